-- Which model the vectors are of; where it is not known yet, the next sync looks and writes it down.
ALTER TABLE encoding ADD COLUMN model TEXT NOT NULL DEFAULT '';
