-- A claim is taken with a lock of its connection, and then has the next epoch; each write of its owner checks that it still has
-- it. A row stays when its run is deleted, so that no epoch is given twice.

CREATE TABLE claim (
  name  TEXT PRIMARY KEY NOT NULL,
  epoch BIGINT NOT NULL
);

-- The run that a submission was accepted for, if it is judged in another: those of a run share device and versions.

ALTER TABLE submission ADD COLUMN accepted_for TEXT;

-- After it a token is refused; NULL for never.

ALTER TABLE token ADD COLUMN expires TEXT;
