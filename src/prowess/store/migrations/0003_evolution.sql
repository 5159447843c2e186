-- Where each agent stands: one row of bounded size, locked while the agent is evaluated.
CREATE TABLE evolution_agent (
    agent TEXT PRIMARY KEY,
    standing TEXT NOT NULL,
    seen TEXT NOT NULL,
    params TEXT NOT NULL
);

-- Configurations by content, so that a thousand evaluations of one cost one row.
CREATE TABLE evolution_snapshot (
    digest TEXT PRIMARY KEY,
    snapshot TEXT NOT NULL
);

-- Generations: dense numbers per agent, written once; only the count of rollbacks to one moves.
CREATE TABLE evolution_generation (
    agent TEXT NOT NULL,
    number BIGINT NOT NULL,
    snapshot TEXT NOT NULL,
    record TEXT NOT NULL,
    restored BIGINT NOT NULL,
    rollbacks BIGINT NOT NULL,
    PRIMARY KEY (agent, number)
);

-- The fitness of every evaluation, append-only.
CREATE TABLE evolution_fitness (
    agent TEXT NOT NULL,
    evaluation BIGINT NOT NULL,
    at TEXT NOT NULL,
    scores TEXT NOT NULL,
    fitness DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (agent, evaluation)
);
