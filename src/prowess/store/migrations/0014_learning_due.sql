-- Skills and gaps that something was learnt about and that are yet to be counted anew: learning goes on in
-- portions, and whoever goes on after an interruption finds here what is left to do.
CREATE TABLE learning_due (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (kind, id)
);
