-- What was shown to a model as the nearest though it did not fit its need.
ALTER TABLE learning_need ADD COLUMN weak TEXT NOT NULL DEFAULT '[]';
