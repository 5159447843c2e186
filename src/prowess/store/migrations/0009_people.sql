-- People at the dashboard and the API: their tokens, one-time links and sessions, each kept as a hash.
CREATE TABLE person_pass (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    hash TEXT NOT NULL,
    parent TEXT NOT NULL,
    issued_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended_at TEXT NOT NULL
);
CREATE INDEX person_pass_by_parent ON person_pass (parent);
-- What was answered to a write that named itself, so that the same write sent again is answered the same.
CREATE TABLE answered_write (
    who TEXT NOT NULL,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    state TEXT NOT NULL,
    status BIGINT NOT NULL,
    body TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (who, key)
);
CREATE INDEX answered_write_by_time ON answered_write (at);
