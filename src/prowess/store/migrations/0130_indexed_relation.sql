-- What rows of the index share or name: tags, and the tools that they need.
CREATE TABLE indexed_relation (
    workspace TEXT NOT NULL DEFAULT 'default',
    what TEXT NOT NULL,
    name TEXT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (workspace, what, name, number)
);
CREATE INDEX indexed_capability_by_category ON indexed_capability (workspace, category);
-- Whether it takes more than having it to use it: a secret, another tool.
ALTER TABLE indexed_capability ADD COLUMN demanding BOOLEAN NOT NULL DEFAULT FALSE;
-- A tool of a server by the name that others require it under: its id without `tool:SERVER/`.
CREATE INDEX capability_by_tool_name ON capability (workspace, substr(id, length(provider) + 7));
