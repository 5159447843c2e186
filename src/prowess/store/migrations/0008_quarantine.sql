-- Content that a person, or the trust a source was given, has approved: exactly this text of this id.
CREATE TABLE approved_content (
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    approved_by TEXT NOT NULL,
    approved_at TEXT NOT NULL,
    PRIMARY KEY (id, digest)
);

-- What is held back until a person has looked at it.
CREATE TABLE quarantine (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    reason TEXT NOT NULL,
    state TEXT NOT NULL,
    since TEXT NOT NULL
);
