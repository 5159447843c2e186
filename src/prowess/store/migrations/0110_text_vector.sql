-- The vectors of texts under another name: `vector` is what pgvector calls its type.
CREATE TABLE text_vector (
    workspace TEXT NOT NULL DEFAULT 'default',
    model TEXT NOT NULL,
    text TEXT NOT NULL,
    vector BYTEA NOT NULL,
    PRIMARY KEY (workspace, model, text)
);
INSERT INTO text_vector (workspace, model, text, vector) SELECT workspace, model, text, vector FROM vector;
DROP TABLE vector;
