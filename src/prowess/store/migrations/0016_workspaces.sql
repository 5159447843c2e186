-- Every row knows its workspace, which comes first in every key and every index: what is asked for is always of
-- one workspace. Neither database can change the key of a table that exists in words that the other one knows, so
-- each table is made anew and its rows carried over. The rows that exist belong to the workspace 'default'.

ALTER TABLE journal RENAME TO journal_before;
CREATE TABLE journal (
    workspace TEXT NOT NULL DEFAULT 'default',
    chain TEXT NOT NULL,
    number BIGINT NOT NULL,
    at TEXT NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    hash TEXT NOT NULL,
    moment TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, chain, number)
);
INSERT INTO journal (chain, number, at, type, data, hash, moment)
    SELECT chain, number, at, type, data, hash, moment FROM journal_before;
DROP TABLE journal_before;
CREATE INDEX journal_by_type ON journal (workspace, type, at);
CREATE INDEX journal_in_order ON journal (workspace, moment, chain, number);

ALTER TABLE journal_head RENAME TO journal_head_before;
CREATE TABLE journal_head (
    workspace TEXT NOT NULL DEFAULT 'default',
    chain TEXT NOT NULL,
    count BIGINT NOT NULL,
    hash TEXT NOT NULL,
    moment TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, chain)
);
INSERT INTO journal_head (chain, count, hash, moment)
    SELECT chain, count, hash, moment FROM journal_head_before;
DROP TABLE journal_head_before;

ALTER TABLE catalogue_version RENAME TO catalogue_version_before;
CREATE TABLE catalogue_version (
    workspace TEXT NOT NULL DEFAULT 'default',
    one BIGINT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (workspace, one)
);
INSERT INTO catalogue_version (one, version) SELECT one, version FROM catalogue_version_before;
DROP TABLE catalogue_version_before;

ALTER TABLE capability RENAME TO capability_before;
CREATE TABLE capability (
    workspace TEXT NOT NULL DEFAULT 'default',
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    place TEXT NOT NULL,
    provider TEXT NOT NULL,
    digest TEXT NOT NULL,
    version BIGINT NOT NULL,
    definition TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, id)
);
INSERT INTO capability (id, source, place, provider, digest, version, definition)
    SELECT id, source, place, provider, digest, version, definition FROM capability_before;
DROP TABLE capability_before;
CREATE INDEX capability_by_version ON capability (workspace, version);
CREATE INDEX capability_by_source ON capability (workspace, source, place);

ALTER TABLE capability_text RENAME TO capability_text_before;
CREATE TABLE capability_text (
    workspace TEXT NOT NULL DEFAULT 'default',
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    since BIGINT NOT NULL,
    seen_at TEXT NOT NULL,
    capability TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (workspace, id, digest)
);
INSERT INTO capability_text (id, digest, since, seen_at, capability, detail)
    SELECT id, digest, since, seen_at, capability, detail FROM capability_text_before;
DROP TABLE capability_text_before;

ALTER TABLE source_entry RENAME TO source_entry_before;
CREATE TABLE source_entry (
    workspace TEXT NOT NULL DEFAULT 'default',
    source TEXT NOT NULL,
    place TEXT NOT NULL,
    stamp TEXT NOT NULL,
    definition TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, source, place)
);
INSERT INTO source_entry (source, place, stamp, definition)
    SELECT source, place, stamp, definition FROM source_entry_before;
DROP TABLE source_entry_before;

ALTER TABLE provider RENAME TO provider_before;
CREATE TABLE provider (
    workspace TEXT NOT NULL DEFAULT 'default',
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    description TEXT NOT NULL,
    faculties TEXT NOT NULL,
    down TEXT NOT NULL,
    definition TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, name)
);
INSERT INTO provider (name, source, description, faculties, down, definition)
    SELECT name, source, description, faculties, down, definition FROM provider_before;
DROP TABLE provider_before;

ALTER TABLE provider_off RENAME TO provider_off_before;
CREATE TABLE provider_off (
    workspace TEXT NOT NULL DEFAULT 'default',
    provider TEXT NOT NULL,
    agent TEXT NOT NULL,
    reason TEXT NOT NULL,
    decided TEXT NOT NULL DEFAULT 'person',
    PRIMARY KEY (workspace, provider, agent)
);
INSERT INTO provider_off (provider, agent, reason, decided)
    SELECT provider, agent, reason, decided FROM provider_off_before;
DROP TABLE provider_off_before;

ALTER TABLE problem RENAME TO problem_before;
CREATE TABLE problem (
    workspace TEXT NOT NULL DEFAULT 'default',
    source TEXT NOT NULL,
    number BIGINT NOT NULL,
    problem TEXT NOT NULL,
    definition TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, source, number)
);
INSERT INTO problem (source, number, problem, definition)
    SELECT source, number, problem, definition FROM problem_before;
DROP TABLE problem_before;

ALTER TABLE policy_version RENAME TO policy_version_before;
CREATE TABLE policy_version (
    workspace TEXT NOT NULL DEFAULT 'default',
    one BIGINT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (workspace, one)
);
INSERT INTO policy_version (one, version) SELECT one, version FROM policy_version_before;
DROP TABLE policy_version_before;

ALTER TABLE agent RENAME TO agent_before;
CREATE TABLE agent (
    workspace TEXT NOT NULL DEFAULT 'default',
    name TEXT NOT NULL,
    profile TEXT NOT NULL,
    parent TEXT NOT NULL,
    since TEXT NOT NULL,
    PRIMARY KEY (workspace, name)
);
INSERT INTO agent (name, profile, parent, since) SELECT name, profile, parent, since FROM agent_before;
DROP TABLE agent_before;
CREATE INDEX agent_by_parent ON agent (workspace, parent);

ALTER TABLE approval RENAME TO approval_before;
CREATE TABLE approval (
    workspace TEXT NOT NULL DEFAULT 'default',
    id TEXT NOT NULL,
    agent TEXT NOT NULL,
    capability TEXT NOT NULL,
    digest TEXT NOT NULL,
    reason TEXT NOT NULL,
    state TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    answered_by TEXT NOT NULL,
    note TEXT NOT NULL,
    arguments TEXT NOT NULL DEFAULT '{}',
    arguments_digest TEXT NOT NULL DEFAULT '',
    scope TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, id)
);
INSERT INTO approval (id, agent, capability, digest, reason, state, asked_at, expires_at, answered_by, note,
        arguments, arguments_digest, scope)
    SELECT id, agent, capability, digest, reason, state, asked_at, expires_at, answered_by, note, arguments,
        arguments_digest, scope FROM approval_before;
DROP TABLE approval_before;
CREATE INDEX approval_by_capability ON approval (workspace, agent, capability, digest);
CREATE INDEX approval_by_state ON approval (workspace, state, expires_at);

ALTER TABLE grant_review RENAME TO grant_review_before;
CREATE TABLE grant_review (
    workspace TEXT NOT NULL DEFAULT 'default',
    digest TEXT NOT NULL,
    name TEXT NOT NULL,
    reviewed_by TEXT NOT NULL,
    reviewed_at TEXT NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (workspace, digest)
);
INSERT INTO grant_review (digest, name, reviewed_by, reviewed_at, note)
    SELECT digest, name, reviewed_by, reviewed_at, note FROM grant_review_before;
DROP TABLE grant_review_before;

ALTER TABLE resource_use RENAME TO resource_use_before;
CREATE TABLE resource_use (
    workspace TEXT NOT NULL DEFAULT 'default',
    agent TEXT NOT NULL,
    used_at TEXT NOT NULL,
    capability TEXT NOT NULL,
    used_by TEXT NOT NULL
);
INSERT INTO resource_use (agent, used_at, capability, used_by)
    SELECT agent, used_at, capability, used_by FROM resource_use_before;
DROP TABLE resource_use_before;
CREATE INDEX resource_use_by_agent ON resource_use (workspace, agent, used_at);

ALTER TABLE evolution_agent RENAME TO evolution_agent_before;
CREATE TABLE evolution_agent (
    workspace TEXT NOT NULL DEFAULT 'default',
    agent TEXT NOT NULL,
    standing TEXT NOT NULL,
    seen TEXT NOT NULL,
    params TEXT NOT NULL,
    PRIMARY KEY (workspace, agent)
);
INSERT INTO evolution_agent (agent, standing, seen, params)
    SELECT agent, standing, seen, params FROM evolution_agent_before;
DROP TABLE evolution_agent_before;

ALTER TABLE evolution_snapshot RENAME TO evolution_snapshot_before;
CREATE TABLE evolution_snapshot (
    workspace TEXT NOT NULL DEFAULT 'default',
    digest TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    PRIMARY KEY (workspace, digest)
);
INSERT INTO evolution_snapshot (digest, snapshot) SELECT digest, snapshot FROM evolution_snapshot_before;
DROP TABLE evolution_snapshot_before;

ALTER TABLE evolution_generation RENAME TO evolution_generation_before;
CREATE TABLE evolution_generation (
    workspace TEXT NOT NULL DEFAULT 'default',
    agent TEXT NOT NULL,
    number BIGINT NOT NULL,
    snapshot TEXT NOT NULL,
    record TEXT NOT NULL,
    restored BIGINT NOT NULL,
    rollbacks BIGINT NOT NULL,
    PRIMARY KEY (workspace, agent, number)
);
INSERT INTO evolution_generation (agent, number, snapshot, record, restored, rollbacks)
    SELECT agent, number, snapshot, record, restored, rollbacks FROM evolution_generation_before;
DROP TABLE evolution_generation_before;

ALTER TABLE evolution_fitness RENAME TO evolution_fitness_before;
CREATE TABLE evolution_fitness (
    workspace TEXT NOT NULL DEFAULT 'default',
    agent TEXT NOT NULL,
    evaluation BIGINT NOT NULL,
    at TEXT NOT NULL,
    scores TEXT NOT NULL,
    fitness DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (workspace, agent, evaluation)
);
INSERT INTO evolution_fitness (agent, evaluation, at, scores, fitness)
    SELECT agent, evaluation, at, scores, fitness FROM evolution_fitness_before;
DROP TABLE evolution_fitness_before;

ALTER TABLE vector RENAME TO vector_before;
CREATE TABLE vector (
    workspace TEXT NOT NULL DEFAULT 'default',
    model TEXT NOT NULL,
    text TEXT NOT NULL,
    vector BYTEA NOT NULL,
    PRIMARY KEY (workspace, model, text)
);
INSERT INTO vector (model, text, vector) SELECT model, text, vector FROM vector_before;
DROP TABLE vector_before;

ALTER TABLE encoding RENAME TO encoding_before;
CREATE TABLE encoding (
    workspace TEXT NOT NULL DEFAULT 'default',
    collection TEXT NOT NULL,
    version BIGINT NOT NULL,
    model TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, collection)
);
INSERT INTO encoding (collection, version, model) SELECT collection, version, model FROM encoding_before;
DROP TABLE encoding_before;

ALTER TABLE search_index RENAME TO search_index_before;
CREATE TABLE search_index (
    workspace TEXT NOT NULL DEFAULT 'default',
    collection TEXT NOT NULL,
    state BYTEA NOT NULL,
    PRIMARY KEY (workspace, collection)
);
INSERT INTO search_index (collection, state) SELECT collection, state FROM search_index_before;
DROP TABLE search_index_before;

ALTER TABLE card_rate RENAME TO card_rate_before;
CREATE TABLE card_rate (
    workspace TEXT NOT NULL DEFAULT 'default',
    minute TEXT NOT NULL,
    turns BIGINT NOT NULL,
    injecting BIGINT NOT NULL,
    PRIMARY KEY (workspace, minute)
);
INSERT INTO card_rate (minute, turns, injecting) SELECT minute, turns, injecting FROM card_rate_before;
DROP TABLE card_rate_before;

ALTER TABLE card_review RENAME TO card_review_before;
CREATE TABLE card_review (
    workspace TEXT NOT NULL DEFAULT 'default',
    selection TEXT NOT NULL,
    card TEXT NOT NULL,
    relevant BIGINT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (workspace, selection, card)
);
INSERT INTO card_review (selection, card, relevant, at)
    SELECT selection, card, relevant, at FROM card_review_before;
DROP TABLE card_review_before;

ALTER TABLE card_fit RENAME TO card_fit_before;
CREATE TABLE card_fit (
    workspace TEXT NOT NULL DEFAULT 'default',
    number BIGINT NOT NULL,
    at TEXT NOT NULL,
    weights TEXT NOT NULL,
    labels BIGINT NOT NULL,
    PRIMARY KEY (workspace, number)
);
INSERT INTO card_fit (number, at, weights, labels) SELECT number, at, weights, labels FROM card_fit_before;
DROP TABLE card_fit_before;

ALTER TABLE card_text RENAME TO card_text_before;
CREATE TABLE card_text (
    workspace TEXT NOT NULL DEFAULT 'default',
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (workspace, name)
);
INSERT INTO card_text (name, text, at) SELECT name, text, at FROM card_text_before;
DROP TABLE card_text_before;

ALTER TABLE learning_seen RENAME TO learning_seen_before;
CREATE TABLE learning_seen (
    workspace TEXT NOT NULL DEFAULT 'default',
    chain TEXT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (workspace, chain)
);
INSERT INTO learning_seen (chain, count) SELECT chain, count FROM learning_seen_before;
DROP TABLE learning_seen_before;

ALTER TABLE learning_need RENAME TO learning_need_before;
CREATE TABLE learning_need (
    workspace TEXT NOT NULL DEFAULT 'default',
    offer TEXT NOT NULL,
    number BIGINT NOT NULL,
    agent TEXT NOT NULL,
    at TEXT NOT NULL,
    request TEXT NOT NULL,
    span TEXT NOT NULL,
    routes TEXT NOT NULL,
    status TEXT NOT NULL,
    method TEXT NOT NULL,
    reason TEXT NOT NULL,
    gap TEXT NOT NULL,
    PRIMARY KEY (workspace, offer, number)
);
INSERT INTO learning_need (offer, number, agent, at, request, span, routes, status, method, reason, gap)
    SELECT offer, number, agent, at, request, span, routes, status, method, reason, gap FROM
        learning_need_before;
DROP TABLE learning_need_before;
CREATE INDEX learning_need_by_time ON learning_need (workspace, at);
CREATE INDEX learning_need_by_gap ON learning_need (workspace, gap, at);
CREATE INDEX learning_need_by_status ON learning_need (workspace, status, at);

ALTER TABLE learning_attempt RENAME TO learning_attempt_before;
CREATE TABLE learning_attempt (
    workspace TEXT NOT NULL DEFAULT 'default',
    offer TEXT NOT NULL,
    capability TEXT NOT NULL,
    ok BIGINT NOT NULL,
    denied TEXT NOT NULL,
    detail TEXT NOT NULL,
    at TEXT NOT NULL,
    agent TEXT NOT NULL,
    span TEXT NOT NULL,
    skill TEXT NOT NULL,
    PRIMARY KEY (workspace, offer, capability)
);
INSERT INTO learning_attempt (offer, capability, ok, denied, detail, at, agent, span, skill)
    SELECT offer, capability, ok, denied, detail, at, agent, span, skill FROM learning_attempt_before;
DROP TABLE learning_attempt_before;
CREATE INDEX learning_attempt_by_skill ON learning_attempt (workspace, skill);

ALTER TABLE learning_steps RENAME TO learning_steps_before;
CREATE TABLE learning_steps (
    workspace TEXT NOT NULL DEFAULT 'default',
    offer TEXT NOT NULL,
    skill TEXT NOT NULL,
    ok BIGINT NOT NULL,
    at TEXT NOT NULL,
    agent TEXT NOT NULL,
    span TEXT NOT NULL,
    PRIMARY KEY (workspace, offer)
);
INSERT INTO learning_steps (offer, skill, ok, at, agent, span)
    SELECT offer, skill, ok, at, agent, span FROM learning_steps_before;
DROP TABLE learning_steps_before;
CREATE INDEX learning_steps_by_skill ON learning_steps (workspace, skill);

ALTER TABLE learnt_skill RENAME TO learnt_skill_before;
CREATE TABLE learnt_skill (
    workspace TEXT NOT NULL DEFAULT 'default',
    id TEXT NOT NULL,
    method TEXT NOT NULL,
    status TEXT NOT NULL,
    last_seen TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
);
INSERT INTO learnt_skill (id, method, status, last_seen, record)
    SELECT id, method, status, last_seen, record FROM learnt_skill_before;
DROP TABLE learnt_skill_before;
CREATE INDEX learnt_skill_by_method ON learnt_skill (workspace, method);
CREATE INDEX learnt_skill_by_status ON learnt_skill (workspace, status);

ALTER TABLE skill_gate RENAME TO skill_gate_before;
CREATE TABLE skill_gate (
    workspace TEXT NOT NULL DEFAULT 'default',
    skill TEXT NOT NULL,
    number BIGINT NOT NULL,
    gate TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (workspace, skill, number)
);
INSERT INTO skill_gate (skill, number, gate, record) SELECT skill, number, gate, record FROM skill_gate_before;
DROP TABLE skill_gate_before;

ALTER TABLE curriculum_gap RENAME TO curriculum_gap_before;
CREATE TABLE curriculum_gap (
    workspace TEXT NOT NULL DEFAULT 'default',
    id TEXT NOT NULL,
    span TEXT NOT NULL,
    last_seen TEXT NOT NULL,
    closed_by TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
);
INSERT INTO curriculum_gap (id, span, last_seen, closed_by, record)
    SELECT id, span, last_seen, closed_by, record FROM curriculum_gap_before;
DROP TABLE curriculum_gap_before;

ALTER TABLE agent_token RENAME TO agent_token_before;
CREATE TABLE agent_token (
    workspace TEXT NOT NULL DEFAULT 'default',
    id TEXT NOT NULL,
    agent TEXT NOT NULL,
    hash TEXT NOT NULL,
    issued_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    revoked_at TEXT NOT NULL,
    binding TEXT NOT NULL DEFAULT '',
    policy TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, id)
);
INSERT INTO agent_token (id, agent, hash, issued_at, expires_at, revoked_at, binding, policy)
    SELECT id, agent, hash, issued_at, expires_at, revoked_at, binding, policy FROM agent_token_before;
DROP TABLE agent_token_before;
CREATE INDEX agent_token_by_agent ON agent_token (workspace, agent);

ALTER TABLE approved_content RENAME TO approved_content_before;
CREATE TABLE approved_content (
    workspace TEXT NOT NULL DEFAULT 'default',
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    approved_by TEXT NOT NULL,
    approved_at TEXT NOT NULL,
    PRIMARY KEY (workspace, id, digest)
);
INSERT INTO approved_content (id, digest, approved_by, approved_at)
    SELECT id, digest, approved_by, approved_at FROM approved_content_before;
DROP TABLE approved_content_before;

ALTER TABLE quarantine RENAME TO quarantine_before;
CREATE TABLE quarantine (
    workspace TEXT NOT NULL DEFAULT 'default',
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    reason TEXT NOT NULL,
    state TEXT NOT NULL,
    since TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
);
INSERT INTO quarantine (id, digest, reason, state, since)
    SELECT id, digest, reason, state, since FROM quarantine_before;
DROP TABLE quarantine_before;

ALTER TABLE person_pass RENAME TO person_pass_before;
CREATE TABLE person_pass (
    workspace TEXT NOT NULL DEFAULT 'default',
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    hash TEXT NOT NULL,
    parent TEXT NOT NULL,
    issued_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended_at TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
);
INSERT INTO person_pass (id, kind, name, role, hash, parent, issued_at, expires_at, ended_at)
    SELECT id, kind, name, role, hash, parent, issued_at, expires_at, ended_at FROM person_pass_before;
DROP TABLE person_pass_before;
CREATE INDEX person_pass_by_parent ON person_pass (workspace, parent);

ALTER TABLE answered_write RENAME TO answered_write_before;
CREATE TABLE answered_write (
    workspace TEXT NOT NULL DEFAULT 'default',
    who TEXT NOT NULL,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    state TEXT NOT NULL,
    status BIGINT NOT NULL,
    body TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (workspace, who, key)
);
INSERT INTO answered_write (who, key, request, state, status, body, at)
    SELECT who, key, request, state, status, body, at FROM answered_write_before;
DROP TABLE answered_write_before;
CREATE INDEX answered_write_by_time ON answered_write (workspace, at);
CREATE INDEX answered_write_by_who ON answered_write (workspace, who, at);

ALTER TABLE uri_claim RENAME TO uri_claim_before;
CREATE TABLE uri_claim (
    workspace TEXT NOT NULL DEFAULT 'default',
    uri TEXT NOT NULL,
    provider TEXT NOT NULL,
    since BIGINT NOT NULL,
    PRIMARY KEY (workspace, uri, provider)
);
INSERT INTO uri_claim (uri, provider, since) SELECT uri, provider, since FROM uri_claim_before;
DROP TABLE uri_claim_before;

ALTER TABLE source_claim RENAME TO source_claim_before;
CREATE TABLE source_claim (
    workspace TEXT NOT NULL DEFAULT 'default',
    owner TEXT NOT NULL,
    source TEXT NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (workspace, owner, source)
);
INSERT INTO source_claim (owner, source, definition) SELECT owner, source, definition FROM source_claim_before;
DROP TABLE source_claim_before;

ALTER TABLE first_sight RENAME TO first_sight_before;
CREATE TABLE first_sight (
    workspace TEXT NOT NULL DEFAULT 'default',
    source TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (workspace, source)
);
INSERT INTO first_sight (source, at) SELECT source, at FROM first_sight_before;
DROP TABLE first_sight_before;

ALTER TABLE learning_due RENAME TO learning_due_before;
CREATE TABLE learning_due (
    workspace TEXT NOT NULL DEFAULT 'default',
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (workspace, kind, id)
);
INSERT INTO learning_due (kind, id, record) SELECT kind, id, record FROM learning_due_before;
DROP TABLE learning_due_before;
