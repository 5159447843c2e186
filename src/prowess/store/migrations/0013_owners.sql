-- Whose a source is: each configuration that names it, and how it defines it. What is in the catalogue
-- belongs to a definition, and goes only when no configuration has that any more.
CREATE TABLE source_claim (
    owner TEXT NOT NULL,
    source TEXT NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (owner, source)
);
ALTER TABLE capability ADD COLUMN definition TEXT NOT NULL DEFAULT '';
ALTER TABLE source_entry ADD COLUMN definition TEXT NOT NULL DEFAULT '';
ALTER TABLE provider ADD COLUMN definition TEXT NOT NULL DEFAULT '';
ALTER TABLE problem ADD COLUMN definition TEXT NOT NULL DEFAULT '';

-- When a server first offered something: what it adds after that waits for a person.
CREATE TABLE first_sight (
    source TEXT PRIMARY KEY,
    at TEXT NOT NULL
);
INSERT INTO first_sight (source, at)
    SELECT source, '' FROM capability WHERE id IN (SELECT id FROM approved_content)
    UNION SELECT source, '' FROM provider WHERE source NOT IN (SELECT source FROM capability);

-- The order of entries, which a clock that is set back does not turn round: never before the one before.
ALTER TABLE journal ADD COLUMN moment TEXT NOT NULL DEFAULT '';
ALTER TABLE journal_head ADD COLUMN moment TEXT NOT NULL DEFAULT '';
UPDATE journal SET moment = at;
UPDATE journal_head SET moment = COALESCE((SELECT MAX(at) FROM journal WHERE journal.chain = journal_head.chain), '');
DROP INDEX journal_by_time;
CREATE INDEX journal_in_order ON journal (moment, chain, number);
