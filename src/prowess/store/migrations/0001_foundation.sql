-- The journal: what happened, per chain, and where each chain ends.
CREATE TABLE journal (
    chain TEXT NOT NULL,
    number BIGINT NOT NULL,
    at TEXT NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (chain, number)
);
CREATE INDEX journal_by_time ON journal (at, chain, number);
CREATE INDEX journal_by_type ON journal (type, at);
CREATE TABLE journal_head (
    chain TEXT PRIMARY KEY,
    count BIGINT NOT NULL,
    hash TEXT NOT NULL
);

-- The catalogue: what exists now, every version of it that ever was, and who brings it.
CREATE TABLE catalogue_version (
    one BIGINT PRIMARY KEY,
    version BIGINT NOT NULL
);
INSERT INTO catalogue_version (one, version) VALUES (1, 0);
CREATE TABLE capability (
    id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    place TEXT NOT NULL,
    provider TEXT NOT NULL,
    digest TEXT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX capability_by_version ON capability (version);
CREATE INDEX capability_by_source ON capability (source, place);
CREATE TABLE capability_text (
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    since BIGINT NOT NULL,
    seen_at TEXT NOT NULL,
    capability TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (id, digest)
);
CREATE TABLE source_entry (
    source TEXT NOT NULL,
    place TEXT NOT NULL,
    stamp TEXT NOT NULL,
    PRIMARY KEY (source, place)
);
CREATE TABLE provider (
    name TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    description TEXT NOT NULL,
    faculties TEXT NOT NULL,
    down TEXT NOT NULL
);
CREATE TABLE provider_off (
    provider TEXT NOT NULL,
    agent TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (provider, agent)
);
CREATE TABLE problem (
    source TEXT NOT NULL,
    number BIGINT NOT NULL,
    problem TEXT NOT NULL,
    PRIMARY KEY (source, number)
);
