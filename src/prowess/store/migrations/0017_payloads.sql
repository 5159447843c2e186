-- What was shown, given and answered, stored once per content until it expires. The journal has its hash, so
-- that dropping it breaks no chain.
CREATE TABLE payload (
    workspace TEXT NOT NULL DEFAULT 'default',
    digest TEXT NOT NULL,
    body TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    PRIMARY KEY (workspace, digest)
);
CREATE INDEX payload_by_expiry ON payload (workspace, expires_at);

-- Which request an entry belongs to, so that one request can be followed from question to result.
ALTER TABLE journal ADD COLUMN trace TEXT NOT NULL DEFAULT '';
CREATE INDEX journal_by_trace ON journal (workspace, trace, chain, number);
