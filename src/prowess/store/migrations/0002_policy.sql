-- Policy: one number that moves with every change below, so that an open process notices it.
CREATE TABLE policy_version (
    one BIGINT PRIMARY KEY,
    version BIGINT NOT NULL
);
INSERT INTO policy_version (one, version) VALUES (1, 0);

-- Agents: a name bound to a profile, perhaps with a parent.
CREATE TABLE agent (
    name TEXT PRIMARY KEY,
    profile TEXT NOT NULL,
    parent TEXT NOT NULL,
    since TEXT NOT NULL
);
CREATE INDEX agent_by_parent ON agent (parent);

-- Approvals: what a person was asked, for exactly which content, and what was answered.
CREATE TABLE approval (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    capability TEXT NOT NULL,
    digest TEXT NOT NULL,
    reason TEXT NOT NULL,
    state TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    answered_by TEXT NOT NULL,
    note TEXT NOT NULL
);
CREATE INDEX approval_by_capability ON approval (agent, capability, digest);
CREATE INDEX approval_by_state ON approval (state, expires_at);

-- Reviews: which definition of a grant an admin has looked at.
CREATE TABLE grant_review (
    digest TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    reviewed_by TEXT NOT NULL,
    reviewed_at TEXT NOT NULL,
    note TEXT NOT NULL
);

-- Uses of what is resource-intensive, each counted for the agent and for every ancestor.
CREATE TABLE resource_use (
    agent TEXT NOT NULL,
    used_at TEXT NOT NULL,
    capability TEXT NOT NULL,
    used_by TEXT NOT NULL
);
CREATE INDEX resource_use_by_agent ON resource_use (agent, used_at);
