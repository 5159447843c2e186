-- The search index of a catalogue that is too large to be held in memory: up to which version of the catalogue it
-- goes, with which model, how often it changed, and the mean of its vectors.
CREATE TABLE stored_index (
    workspace TEXT NOT NULL DEFAULT 'default',
    version BIGINT NOT NULL,
    change BIGINT NOT NULL,
    next BIGINT NOT NULL,
    model TEXT NOT NULL,
    mean BYTEA NOT NULL,
    PRIMARY KEY (workspace)
);
-- A capability by its number there: what it is called, what policy looks at, and since which change it is gone.
CREATE TABLE indexed_capability (
    workspace TEXT NOT NULL DEFAULT 'default',
    number BIGINT NOT NULL,
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    gone BIGINT NOT NULL DEFAULT 0,
    name_key TEXT NOT NULL,
    shown_key TEXT NOT NULL,
    area TEXT NOT NULL,
    spelling TEXT NOT NULL,
    kind TEXT NOT NULL,
    provider TEXT NOT NULL,
    category TEXT NOT NULL,
    source TEXT NOT NULL,
    tags TEXT NOT NULL,
    effects TEXT NOT NULL,
    joined_grant TEXT NOT NULL,
    climbs BOOLEAN NOT NULL,
    requires_auth BOOLEAN NOT NULL,
    PRIMARY KEY (workspace, number)
);
CREATE INDEX indexed_capability_by_id ON indexed_capability (workspace, id);
CREATE INDEX indexed_capability_by_name ON indexed_capability (workspace, name_key);
CREATE INDEX indexed_capability_by_shown_name ON indexed_capability (workspace, shown_key);
CREATE INDEX indexed_capability_by_provider ON indexed_capability (workspace, provider);
CREATE INDEX indexed_capability_by_kind ON indexed_capability (workspace, kind);
CREATE INDEX indexed_capability_by_change ON indexed_capability (workspace, gone);
CREATE TABLE indexed_vector (
    workspace TEXT NOT NULL DEFAULT 'default',
    number BIGINT NOT NULL,
    vector BYTEA NOT NULL,
    PRIMARY KEY (workspace, number)
);
-- Numbers that were indexed together: their codes, how long their texts are together, and where each term stands.
CREATE TABLE index_segment (
    workspace TEXT NOT NULL DEFAULT 'default',
    segment BIGINT NOT NULL,
    change BIGINT NOT NULL,
    size BIGINT NOT NULL,
    length DOUBLE PRECISION NOT NULL,
    numbers BYTEA NOT NULL,
    codes BYTEA NOT NULL,
    PRIMARY KEY (workspace, segment)
);
CREATE TABLE posting_list (
    workspace TEXT NOT NULL DEFAULT 'default',
    term TEXT NOT NULL,
    segment BIGINT NOT NULL,
    numbers BYTEA NOT NULL,
    impacts BYTEA NOT NULL,
    PRIMARY KEY (workspace, term, segment)
);
CREATE INDEX posting_list_by_segment ON posting_list (workspace, segment);
