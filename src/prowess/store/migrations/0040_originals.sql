-- What the author of a capability calls it and says, by its digest, where prowess.toml words it otherwise: an
-- approval is for the author's own text. Empty where both are the same.
ALTER TABLE capability ADD COLUMN original_id TEXT NOT NULL DEFAULT '';
ALTER TABLE capability ADD COLUMN original_digest TEXT NOT NULL DEFAULT '';
