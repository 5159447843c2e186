-- What was seen of an agent since it was last evaluated: whoever sees the last outcome that is needed takes the
-- row and evaluates, so that of several processes one does.
CREATE TABLE evolution_due (
    workspace TEXT NOT NULL DEFAULT 'default',
    agent TEXT NOT NULL,
    outcomes BIGINT NOT NULL,
    since TEXT NOT NULL,
    PRIMARY KEY (workspace, agent)
);

-- Why an agent could not use some providers when it was last evaluated: what a later gain says as its cause.
CREATE TABLE evolution_unusable (
    workspace TEXT NOT NULL DEFAULT 'default',
    agent TEXT NOT NULL,
    reasons TEXT NOT NULL,
    PRIMARY KEY (workspace, agent)
);
