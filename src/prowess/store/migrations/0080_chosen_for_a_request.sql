-- Whether a use was chosen for a request and somebody reported what came of it: then a failure may say that it
-- was the wrong choice, and not that it is broken. What prowess called itself, or nobody searched for, is 0.
ALTER TABLE learning_use ADD COLUMN chosen BIGINT NOT NULL DEFAULT 0;
