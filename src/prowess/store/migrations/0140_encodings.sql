-- The vectors of an index in the store by the model that made them: a new model's are made beside those that serve.
-- An encoding holds the mean of its vectors, up to which row it goes, and when a process last said that it uses it.
CREATE TABLE index_encoding (
    workspace TEXT NOT NULL DEFAULT 'default',
    encoding BIGINT NOT NULL,
    model TEXT NOT NULL,
    mean BYTEA NOT NULL,
    upto BIGINT NOT NULL,
    used_at TEXT NOT NULL,
    PRIMARY KEY (workspace, encoding)
);
INSERT INTO index_encoding (workspace, encoding, model, mean, upto, used_at)
    SELECT s.workspace, 1, s.model, s.mean, COALESCE(
        (SELECT MIN(c.number) - 1 FROM indexed_capability c WHERE c.workspace = s.workspace AND c.gone = 0
            AND NOT EXISTS (SELECT 1 FROM indexed_vector v
                WHERE v.workspace = c.workspace AND v.number = c.number)), s.next - 1), ''
    FROM stored_index s WHERE s.model <> '';
ALTER TABLE stored_index DROP COLUMN model;
ALTER TABLE stored_index DROP COLUMN mean;

ALTER TABLE indexed_vector RENAME TO indexed_vector_before;
CREATE TABLE indexed_vector (
    workspace TEXT NOT NULL DEFAULT 'default',
    encoding BIGINT NOT NULL,
    number BIGINT NOT NULL,
    vector BYTEA NOT NULL,
    PRIMARY KEY (workspace, encoding, number)
);
INSERT INTO indexed_vector (workspace, encoding, number, vector)
    SELECT workspace, 1, number, vector FROM indexed_vector_before;
DROP TABLE indexed_vector_before;

-- The codes of rows that were encoded together.
CREATE TABLE index_codes (
    workspace TEXT NOT NULL DEFAULT 'default',
    encoding BIGINT NOT NULL,
    change BIGINT NOT NULL,
    numbers BYTEA NOT NULL,
    codes BYTEA NOT NULL,
    PRIMARY KEY (workspace, encoding, change)
);
INSERT INTO index_codes (workspace, encoding, change, numbers, codes)
    SELECT workspace, 1, change, numbers, codes FROM index_segment WHERE length(codes) > 0;
ALTER TABLE index_segment DROP COLUMN codes;

-- What prowess.toml words otherwise, by what its author calls it.
CREATE INDEX capability_by_original ON capability (workspace, original_id) WHERE original_id <> '';
