-- What verdicts are searched and counted by lies in columns; the body stays as it was. A judgement is remembered apart
-- from the run that needed it first. Keys of the memory before did not depend on the judge: nothing of it is kept.

CREATE TABLE judgement (
  judged_as TEXT PRIMARY KEY,
  candidate TEXT NOT NULL,
  body      TEXT NOT NULL
);

CREATE TABLE verdict_2 (
  run          TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  position     INTEGER NOT NULL,
  identity     TEXT NOT NULL,
  candidate    TEXT NOT NULL REFERENCES source (candidate),
  suite        TEXT NOT NULL,
  category     TEXT NOT NULL,
  task         TEXT NOT NULL,
  method       TEXT,
  model        TEXT,
  sample       INTEGER NOT NULL,
  round        INTEGER,
  status       TEXT NOT NULL,
  stage        TEXT NOT NULL,
  device       TEXT NOT NULL,
  speedup      DOUBLE PRECISION,
  speedup_low  DOUBLE PRECISION,
  speedup_high DOUBLE PRECISION,
  baseline     TEXT,
  body         TEXT NOT NULL,
  PRIMARY KEY (run, position),
  UNIQUE (run, identity)
);

INSERT INTO verdict_2
SELECT run, position, 'position ' || position, candidate,
       body ->> 'suite', body ->> 'category', task, body ->> 'method', body ->> 'model', body ->> 'sample', body ->> 'round',
       status, body ->> 'stage', body -> 'device' ->> 'name',
       body -> 'speedup' ->> 'value', body -> 'speedup' ->> 'low', body -> 'speedup' ->> 'high', body -> 'speedup' ->> 'baseline',
       body
FROM verdict;

DROP TABLE verdict;
ALTER TABLE verdict_2 RENAME TO verdict;
CREATE INDEX verdict_candidate ON verdict (candidate);
