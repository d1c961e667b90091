-- Verdicts are counted where they are: a table of counts had to be kept right by everything that writes verdicts, and copied
-- runs had none. The index serves the names in a run and counts of one method or model.

DROP TABLE verdict_count;

CREATE INDEX verdict_names ON verdict (run, method, model);
