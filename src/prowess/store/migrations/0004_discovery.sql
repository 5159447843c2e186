-- Vectors by the text they stand for, so that only what reads differently is encoded again.
CREATE TABLE vector (
    model TEXT NOT NULL,
    text TEXT NOT NULL,
    vector BYTEA NOT NULL,
    PRIMARY KEY (model, text)
);

-- Up to which catalogue version everything has its vector, so that a sync knows when nothing is to do.
CREATE TABLE encoding (
    collection TEXT PRIMARY KEY,
    version BIGINT NOT NULL
);

-- The whole search index as it was last written down, so that opening a large store is quick.
CREATE TABLE search_index (
    collection TEXT PRIMARY KEY,
    state BYTEA NOT NULL
);
