-- What an approval is about: the arguments as a person is shown them, which they are, and how far a yes goes.
ALTER TABLE approval ADD COLUMN arguments TEXT NOT NULL DEFAULT '{}';
ALTER TABLE approval ADD COLUMN arguments_digest TEXT NOT NULL DEFAULT '';
ALTER TABLE approval ADD COLUMN scope TEXT NOT NULL DEFAULT '';

-- Who offered a URI, or a template of that shape, since which version of the catalogue.
CREATE TABLE uri_claim (
    uri TEXT NOT NULL,
    provider TEXT NOT NULL,
    since BIGINT NOT NULL,
    PRIMARY KEY (uri, provider)
);
