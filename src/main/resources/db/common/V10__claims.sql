-- After it a token is refused; NULL for never.

ALTER TABLE token ADD COLUMN expires TEXT;
