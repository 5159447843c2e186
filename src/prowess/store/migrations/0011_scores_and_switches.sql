-- Who decided that a provider is off: a person, whose word stands, or a rollback.
ALTER TABLE provider_off ADD COLUMN decided TEXT NOT NULL DEFAULT 'person';
UPDATE provider_off SET decided = 'rollback' WHERE reason LIKE 'rolled back to generation %';

-- Earlier versions kept scores as they were given, and could not read some of them again: true and false, and for
-- autonomy a fraction of one or a level with decimals. The level that is meant takes its place, and what was given
-- stays beside it. A comma stands before autonomy in scores, and none in the changes of scores, which are right.
UPDATE evolution_agent SET standing =
    REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    REPLACE(REPLACE(standing,
    ',"autonomy":true', ',"autonomy":1'),
    ',"autonomy":false', ',"autonomy":0'),
    ',"autonomy":1.0,', ',"autonomy":5,'),
    ',"autonomy":0.0', ',"autonomy":0,"given":0.0'),
    ',"autonomy":0.1', ',"autonomy":1,"given":0.1'),
    ',"autonomy":0.2', ',"autonomy":1,"given":0.2'),
    ',"autonomy":0.3', ',"autonomy":2,"given":0.3'),
    ',"autonomy":0.4', ',"autonomy":2,"given":0.4'),
    ',"autonomy":0.5', ',"autonomy":3,"given":0.5'),
    ',"autonomy":0.6', ',"autonomy":3,"given":0.6'),
    ',"autonomy":0.7', ',"autonomy":4,"given":0.7'),
    ',"autonomy":0.8', ',"autonomy":4,"given":0.8'),
    ',"autonomy":0.9', ',"autonomy":5,"given":0.9'),
    ',"autonomy":1.', ',"autonomy":1,"given":1.'),
    ',"autonomy":2.', ',"autonomy":2,"given":2.'),
    ',"autonomy":3.', ',"autonomy":3,"given":3.'),
    ',"autonomy":4.', ',"autonomy":4,"given":4.'),
    ',"autonomy":5.', ',"autonomy":5,"given":5.'),
    '"cognitive":true,"behavioral"', '"cognitive":1.0,"behavioral"'),
    '"cognitive":false,"behavioral"', '"cognitive":0.0,"behavioral"'),
    '"behavioral":true,"safety"', '"behavioral":1.0,"safety"'),
    '"behavioral":false,"safety"', '"behavioral":0.0,"safety"'),
    '"safety":true,"autonomy"', '"safety":1.0,"autonomy"'),
    '"safety":false,"autonomy"', '"safety":0.0,"autonomy"'),
    '"meta_learning":true},"ranking"', '"meta_learning":1.0},"ranking"'),
    '"meta_learning":false},"ranking"', '"meta_learning":0.0},"ranking"')
WHERE standing LIKE '%,"autonomy":_.%' OR standing LIKE '%":true%' OR standing LIKE '%":false%';
UPDATE evolution_generation SET record =
    REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    REPLACE(REPLACE(record,
    ',"autonomy":true', ',"autonomy":1'),
    ',"autonomy":false', ',"autonomy":0'),
    ',"autonomy":1.0,', ',"autonomy":5,'),
    ',"autonomy":0.0', ',"autonomy":0,"given":0.0'),
    ',"autonomy":0.1', ',"autonomy":1,"given":0.1'),
    ',"autonomy":0.2', ',"autonomy":1,"given":0.2'),
    ',"autonomy":0.3', ',"autonomy":2,"given":0.3'),
    ',"autonomy":0.4', ',"autonomy":2,"given":0.4'),
    ',"autonomy":0.5', ',"autonomy":3,"given":0.5'),
    ',"autonomy":0.6', ',"autonomy":3,"given":0.6'),
    ',"autonomy":0.7', ',"autonomy":4,"given":0.7'),
    ',"autonomy":0.8', ',"autonomy":4,"given":0.8'),
    ',"autonomy":0.9', ',"autonomy":5,"given":0.9'),
    ',"autonomy":1.', ',"autonomy":1,"given":1.'),
    ',"autonomy":2.', ',"autonomy":2,"given":2.'),
    ',"autonomy":3.', ',"autonomy":3,"given":3.'),
    ',"autonomy":4.', ',"autonomy":4,"given":4.'),
    ',"autonomy":5.', ',"autonomy":5,"given":5.'),
    '"cognitive":true,"behavioral"', '"cognitive":1.0,"behavioral"'),
    '"cognitive":false,"behavioral"', '"cognitive":0.0,"behavioral"'),
    '"behavioral":true,"safety"', '"behavioral":1.0,"safety"'),
    '"behavioral":false,"safety"', '"behavioral":0.0,"safety"'),
    '"safety":true,"autonomy"', '"safety":1.0,"autonomy"'),
    '"safety":false,"autonomy"', '"safety":0.0,"autonomy"'),
    '"meta_learning":true},"delta"', '"meta_learning":1.0},"delta"'),
    '"meta_learning":false},"delta"', '"meta_learning":0.0},"delta"')
WHERE record LIKE '%,"autonomy":_.%' OR record LIKE '%":true%' OR record LIKE '%":false%';
UPDATE evolution_fitness SET scores =
    REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    REPLACE(REPLACE(scores,
    ',"autonomy":true', ',"autonomy":1'),
    ',"autonomy":false', ',"autonomy":0'),
    ',"autonomy":1.0,', ',"autonomy":5,'),
    ',"autonomy":0.0', ',"autonomy":0,"given":0.0'),
    ',"autonomy":0.1', ',"autonomy":1,"given":0.1'),
    ',"autonomy":0.2', ',"autonomy":1,"given":0.2'),
    ',"autonomy":0.3', ',"autonomy":2,"given":0.3'),
    ',"autonomy":0.4', ',"autonomy":2,"given":0.4'),
    ',"autonomy":0.5', ',"autonomy":3,"given":0.5'),
    ',"autonomy":0.6', ',"autonomy":3,"given":0.6'),
    ',"autonomy":0.7', ',"autonomy":4,"given":0.7'),
    ',"autonomy":0.8', ',"autonomy":4,"given":0.8'),
    ',"autonomy":0.9', ',"autonomy":5,"given":0.9'),
    ',"autonomy":1.', ',"autonomy":1,"given":1.'),
    ',"autonomy":2.', ',"autonomy":2,"given":2.'),
    ',"autonomy":3.', ',"autonomy":3,"given":3.'),
    ',"autonomy":4.', ',"autonomy":4,"given":4.'),
    ',"autonomy":5.', ',"autonomy":5,"given":5.'),
    '"cognitive":true,"behavioral"', '"cognitive":1.0,"behavioral"'),
    '"cognitive":false,"behavioral"', '"cognitive":0.0,"behavioral"'),
    '"behavioral":true,"safety"', '"behavioral":1.0,"safety"'),
    '"behavioral":false,"safety"', '"behavioral":0.0,"safety"'),
    '"safety":true,"autonomy"', '"safety":1.0,"autonomy"'),
    '"safety":false,"autonomy"', '"safety":0.0,"autonomy"'),
    '"meta_learning":true}', '"meta_learning":1.0}'),
    '"meta_learning":false}', '"meta_learning":0.0}')
WHERE scores LIKE '%,"autonomy":_.%' OR scores LIKE '%":true%' OR scores LIKE '%":false%';
