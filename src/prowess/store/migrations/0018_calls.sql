-- Calls that were begun and may have an effect, until their end is known; and calls with a key, whose first
-- result answers every further one until it expires.
CREATE TABLE call (
    workspace TEXT NOT NULL DEFAULT 'default',
    id TEXT NOT NULL,
    agent TEXT NOT NULL,
    capability TEXT NOT NULL,
    key TEXT NOT NULL DEFAULT '',
    arguments TEXT NOT NULL DEFAULT '',
    process TEXT NOT NULL DEFAULT '',
    begun_at TEXT NOT NULL,
    ended_at TEXT NOT NULL DEFAULT '',
    result TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, id)
);
CREATE UNIQUE INDEX call_by_key ON call (workspace, agent, key) WHERE key <> '';
CREATE INDEX call_by_end ON call (workspace, ended_at, begun_at);
