-- The how manieth question about this capability of this agent it is: which is the latest is told by that, whatever
-- clocks said. 0: asked before this was noted; then its time tells.
ALTER TABLE approval ADD COLUMN number BIGINT NOT NULL DEFAULT 0;
