-- What the guard made of whole capabilities, by a hash of all they say: what one process judged, no other judges
-- again. `guard` is a hash of the guard itself, so that another version of it begins anew.
CREATE TABLE text_verdict (
    workspace TEXT NOT NULL DEFAULT 'default',
    guard TEXT NOT NULL,
    content TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (workspace, guard, content)
);
