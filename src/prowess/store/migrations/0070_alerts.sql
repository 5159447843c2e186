-- What people are told without looking. Of what is so now there is one open alert, whichever process finds it;
-- whoever takes a delivery holds it for a while, so that of several processes one sends it.
CREATE TABLE alert (
    workspace TEXT NOT NULL DEFAULT 'default',
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    text TEXT NOT NULL,
    link TEXT NOT NULL,
    raised_at TEXT NOT NULL,
    ended_at TEXT NOT NULL DEFAULT '',
    seen_by TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, id)
);
CREATE UNIQUE INDEX alert_open ON alert (workspace, kind, subject) WHERE ended_at = '';
CREATE INDEX alert_by_time ON alert (workspace, raised_at);
CREATE TABLE alert_delivery (
    workspace TEXT NOT NULL DEFAULT 'default',
    alert TEXT NOT NULL,
    channel TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting',
    attempts BIGINT NOT NULL DEFAULT 0,
    next_at TEXT NOT NULL,
    held_until TEXT NOT NULL DEFAULT '',
    problem TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, alert, channel)
);
CREATE INDEX alert_delivery_due ON alert_delivery (workspace, state, next_at);
