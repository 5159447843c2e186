-- How far the journal was read for learning; the first row is locked by whoever learns.
CREATE TABLE learning_seen (
    chain TEXT PRIMARY KEY,
    count BIGINT NOT NULL
);
INSERT INTO learning_seen (chain, count) VALUES ('*', 0);

-- What was asked, need by need, and what came of it.
CREATE TABLE learning_need (
    offer TEXT NOT NULL,
    number BIGINT NOT NULL,
    agent TEXT NOT NULL,
    at TEXT NOT NULL,
    request TEXT NOT NULL,
    span TEXT NOT NULL,
    routes TEXT NOT NULL,
    status TEXT NOT NULL,
    method TEXT NOT NULL,
    reason TEXT NOT NULL,
    gap TEXT NOT NULL,
    PRIMARY KEY (offer, number)
);
CREATE INDEX learning_need_by_time ON learning_need (at);
CREATE INDEX learning_need_by_gap ON learning_need (gap);
CREATE INDEX learning_need_by_status ON learning_need (status, at);

-- What was tried for a request: one row however often and in whatever order it was reported.
CREATE TABLE learning_attempt (
    offer TEXT NOT NULL,
    capability TEXT NOT NULL,
    ok BIGINT NOT NULL,
    denied TEXT NOT NULL,
    detail TEXT NOT NULL,
    at TEXT NOT NULL,
    agent TEXT NOT NULL,
    span TEXT NOT NULL,
    skill TEXT NOT NULL,
    PRIMARY KEY (offer, capability)
);
CREATE INDEX learning_attempt_by_skill ON learning_attempt (skill);

-- Which capabilities answered a request in which order, where there was more than one.
CREATE TABLE learning_steps (
    offer TEXT PRIMARY KEY,
    skill TEXT NOT NULL,
    ok BIGINT NOT NULL,
    at TEXT NOT NULL,
    agent TEXT NOT NULL,
    span TEXT NOT NULL
);
CREATE INDEX learning_steps_by_skill ON learning_steps (skill);

-- Skills that gather over requests. Never deleted: a retired one stays, with its history.
CREATE TABLE learnt_skill (
    id TEXT PRIMARY KEY,
    method TEXT NOT NULL,
    status TEXT NOT NULL,
    last_seen TEXT NOT NULL,
    record TEXT NOT NULL
);
CREATE INDEX learnt_skill_by_method ON learnt_skill (method);
CREATE INDEX learnt_skill_by_status ON learnt_skill (status);

-- What the gates measured, append-only.
CREATE TABLE skill_gate (
    skill TEXT NOT NULL,
    number BIGINT NOT NULL,
    gate TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (skill, number)
);

-- Gaps that gather over requests.
CREATE TABLE curriculum_gap (
    id TEXT PRIMARY KEY,
    span TEXT NOT NULL,
    last_seen TEXT NOT NULL,
    closed_by TEXT NOT NULL,
    record TEXT NOT NULL
);
