-- When somebody last began to learn by itself: of several processes that look, one does.
CREATE TABLE learning_turn (
    workspace TEXT NOT NULL DEFAULT 'default',
    at TEXT NOT NULL,
    PRIMARY KEY (workspace)
);
