-- How far the chain of an agent was when a generation was recorded: what came later is told by its number there,
-- whatever clocks said. -1: recorded before this was noted; then its time tells.
ALTER TABLE evolution_generation ADD COLUMN counted BIGINT NOT NULL DEFAULT -1;
