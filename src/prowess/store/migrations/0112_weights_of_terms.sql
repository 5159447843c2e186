-- A posting list keeps the weight of its term in each row, and a segment how long each text is, so that scores
-- are exact whatever is added later. What an index held before is made anew, beside serving.
DELETE FROM posting_list;
DELETE FROM index_segment;
DELETE FROM indexed_vector;
DELETE FROM indexed_capability;
DELETE FROM stored_index;
ALTER TABLE posting_list RENAME COLUMN impacts TO weights;
ALTER TABLE index_segment DROP COLUMN length;
ALTER TABLE index_segment ADD COLUMN lengths BYTEA NOT NULL DEFAULT '';
