-- What users call a run and say of it. Not in info, which the process that judges the run writes anew at its end.

ALTER TABLE run ADD COLUMN name TEXT;
ALTER TABLE run ADD COLUMN note TEXT;
