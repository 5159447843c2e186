-- How many turns there were in each minute and how many got a card, so that the rate of a day is a short sum.
CREATE TABLE card_rate (
    minute TEXT PRIMARY KEY,
    turns BIGINT NOT NULL,
    injecting BIGINT NOT NULL
);

-- What people said about selections: whether a card was relevant to a turn.
CREATE TABLE card_review (
    selection TEXT NOT NULL,
    card TEXT NOT NULL,
    relevant BIGINT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (selection, card)
);

-- Every fit of the default scorer that a person asked for; the last one holds.
CREATE TABLE card_fit (
    number BIGINT PRIMARY KEY,
    at TEXT NOT NULL,
    weights TEXT NOT NULL,
    labels BIGINT NOT NULL
);

-- Cards that are kept here instead of in files.
CREATE TABLE card_text (
    name TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    at TEXT NOT NULL
);
