-- What the guard made of the texts of cards, by a hash of each text: what one process judged, no other judges
-- again. `guard` is a hash of the guard itself, so that another version of it begins anew.
CREATE TABLE card_verdict (
    workspace TEXT NOT NULL DEFAULT 'default',
    guard TEXT NOT NULL,
    content TEXT NOT NULL,
    verdict TEXT NOT NULL,
    PRIMARY KEY (workspace, guard, content)
);
