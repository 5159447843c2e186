-- What bound the agent when its token was issued, and which policy files said so. A token is valid for that
-- binding alone. Empty: issued before this was kept; whoever reads the policy next fills it in.
ALTER TABLE agent_token ADD COLUMN binding TEXT NOT NULL DEFAULT '';
ALTER TABLE agent_token ADD COLUMN policy TEXT NOT NULL DEFAULT '';
