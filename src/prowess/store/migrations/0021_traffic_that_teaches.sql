-- A search made within a turn belongs to the offer of that turn, and one that says an earlier one again to that;
-- `telling` are the words of a need that tell it apart, so that a need is known again in another order.
ALTER TABLE learning_need ADD COLUMN asked_in TEXT NOT NULL DEFAULT '';
ALTER TABLE learning_need ADD COLUMN rewords TEXT NOT NULL DEFAULT '';
ALTER TABLE learning_need ADD COLUMN telling TEXT NOT NULL DEFAULT '';
CREATE INDEX learning_need_by_telling ON learning_need (workspace, telling, status);
CREATE INDEX learning_need_by_parent ON learning_need (workspace, asked_in);
CREATE INDEX learning_need_by_rewording ON learning_need (workspace, rewords);

-- The search through which an attempt came, where it is also one of the request around that search.
ALTER TABLE learning_attempt ADD COLUMN via TEXT NOT NULL DEFAULT '';

-- Every use of a capability, chosen from something shown or not: one row for each call, however often it was
-- tried again or reported.
CREATE TABLE learning_use (
    workspace TEXT NOT NULL DEFAULT 'default',
    capability TEXT NOT NULL,
    use TEXT NOT NULL,
    agent TEXT NOT NULL,
    ok BIGINT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (workspace, capability, use)
);
CREATE INDEX learning_use_by_time ON learning_use (workspace, capability, at);
INSERT INTO learning_use (workspace, capability, use, agent, ok, at)
    SELECT workspace, capability, offer, agent, ok, at FROM learning_attempt WHERE denied = '';

-- What fails for most of those who use it now, and since when.
CREATE TABLE learning_failing (
    workspace TEXT NOT NULL DEFAULT 'default',
    capability TEXT NOT NULL,
    why TEXT NOT NULL,
    since TEXT NOT NULL,
    PRIMARY KEY (workspace, capability)
);

-- The telling words of a gap, by which an answer to the same need finds it.
ALTER TABLE curriculum_gap ADD COLUMN telling TEXT NOT NULL DEFAULT '';
CREATE INDEX curriculum_gap_by_telling ON curriculum_gap (workspace, telling);
