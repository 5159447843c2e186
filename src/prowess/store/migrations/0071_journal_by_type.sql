-- The newest entries of one type, in the order in which the journal is read: without a look at those of others.
DROP INDEX journal_by_type;
CREATE INDEX journal_by_type ON journal (workspace, type, moment, chain, number);
