-- How many verdicts there are of each kind: a run's page asks for their sums, and a run may have a hundred thousand.

CREATE TABLE verdict_count (
  run      TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  suite    TEXT NOT NULL,
  category TEXT NOT NULL,
  task     TEXT NOT NULL,
  method   TEXT NOT NULL, -- empty where not stated, as model
  model    TEXT NOT NULL,
  status   TEXT NOT NULL,
  verdicts INTEGER NOT NULL,
  called   INTEGER NOT NULL,
  general  INTEGER NOT NULL,
  timed    INTEGER NOT NULL,
  PRIMARY KEY (run, category, task, method, model, status)
);

INSERT INTO verdict_count (run, suite, category, task, method, model, status, verdicts, called, general, timed)
SELECT run, max(suite), category, task, coalesce(method, ''), coalesce(model, ''), status,
  count(*), coalesce(sum(call_ok), 0), coalesce(sum(general_ok), 0), count(speedup)
FROM verdict GROUP BY run, category, task, coalesce(method, ''), coalesce(model, ''), status;
