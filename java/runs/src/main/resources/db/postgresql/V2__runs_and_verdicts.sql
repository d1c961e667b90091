-- The schema of db/migration as its version 2 left it; the same tables and columns.

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

CREATE TABLE judgement (
  judged_as TEXT PRIMARY KEY,
  candidate TEXT NOT NULL,
  body      TEXT NOT NULL
);

CREATE TABLE verdict (
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

CREATE INDEX verdict_candidate ON verdict (candidate);
