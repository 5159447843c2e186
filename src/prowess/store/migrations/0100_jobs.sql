-- Work that must happen once, whichever process does it: the row of a piece of work says who has it and until when,
-- or, once it has ended, what came of it.
CREATE TABLE job (
    workspace TEXT NOT NULL DEFAULT 'default',
    work TEXT NOT NULL,
    node TEXT NOT NULL,
    since TEXT NOT NULL,
    until TEXT NOT NULL,
    ended TEXT NOT NULL DEFAULT '',
    result TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, work)
);
INSERT INTO job (workspace, work, node, since, until, ended)
    SELECT workspace, 'learning', '', at, at, at FROM learning_turn;
DROP TABLE learning_turn;
