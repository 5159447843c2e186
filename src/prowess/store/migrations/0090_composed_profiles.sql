-- The profile that a program wrote for one child when it spawned it, as JSON; empty where the child has one of the
-- policy files.
ALTER TABLE agent ADD COLUMN definition TEXT NOT NULL DEFAULT '';
