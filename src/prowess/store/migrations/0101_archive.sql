-- How far each chain of the journal lies in archives, and the hash of the last entry there: where the chain in the
-- store goes on.
CREATE TABLE journal_archive (
    workspace TEXT NOT NULL DEFAULT 'default',
    chain TEXT NOT NULL,
    count BIGINT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (workspace, chain)
);
