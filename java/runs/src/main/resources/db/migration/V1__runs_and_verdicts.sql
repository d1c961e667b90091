-- Runs, their verdicts, and the sources judged. JSON bodies are the records of dev.kbx.verdict; the columns beside them
-- are what is searched by.

CREATE TABLE run (
  id       TEXT PRIMARY KEY,
  started  TEXT NOT NULL,
  finished TEXT,
  info     TEXT NOT NULL
);

CREATE TABLE source (
  candidate TEXT PRIMARY KEY,
  code      TEXT NOT NULL
);

CREATE TABLE verdict (
  run       TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  position  INTEGER NOT NULL,
  candidate TEXT NOT NULL REFERENCES source (candidate),
  task      TEXT NOT NULL,
  status    TEXT NOT NULL,
  judged_as TEXT,
  body      TEXT NOT NULL,
  PRIMARY KEY (run, position)
);

CREATE INDEX verdict_judged_as ON verdict (judged_as);
