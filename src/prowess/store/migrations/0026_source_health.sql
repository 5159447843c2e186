-- What each process saw of a source when it last read it: one that could not start a server says nothing about
-- the server of another. `until` is how long a process that keeps running vouches for what it saw.
CREATE TABLE source_health (
    workspace TEXT NOT NULL DEFAULT 'default',
    node TEXT NOT NULL,
    source TEXT NOT NULL,
    definition TEXT NOT NULL DEFAULT '',
    down TEXT NOT NULL DEFAULT '',
    providers_down TEXT NOT NULL DEFAULT '{}',
    problems TEXT NOT NULL DEFAULT '[]',
    at TEXT NOT NULL,
    until TEXT NOT NULL,
    PRIMARY KEY (workspace, node, source)
);
ALTER TABLE provider DROP COLUMN down;
