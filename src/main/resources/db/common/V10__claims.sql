-- The run that a submission was accepted for, if it is judged in another: those of a run share device and versions.

ALTER TABLE submission ADD COLUMN accepted_for TEXT;

-- After it a token is refused; NULL for never.

ALTER TABLE token ADD COLUMN expires TEXT;
