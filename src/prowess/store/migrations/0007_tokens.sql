-- Tokens: what an agent presents over HTTP. Only a hash of the secret part is kept.
CREATE TABLE agent_token (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    hash TEXT NOT NULL,
    issued_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    revoked_at TEXT NOT NULL
);
CREATE INDEX agent_token_by_agent ON agent_token (agent);
