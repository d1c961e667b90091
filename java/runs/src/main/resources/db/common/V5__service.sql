-- What kbx serve has accepted, for whom, and who may ask. A submission is stored before it is answered; its verdict is the one
-- of its run and identity. Times are ISO 8601, so that they sort as text.

CREATE TABLE service_run (
  settings TEXT PRIMARY KEY,
  run      TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  name     TEXT NOT NULL,
  plan     TEXT NOT NULL
);

CREATE TABLE submission (
  id         TEXT PRIMARY KEY,
  client     TEXT NOT NULL,
  client_key TEXT,
  run        TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  identity   TEXT NOT NULL,
  candidate  TEXT NOT NULL REFERENCES source (candidate),
  suite      TEXT NOT NULL,
  task       TEXT NOT NULL,
  method     TEXT,
  model      TEXT,
  sample     INTEGER NOT NULL,
  round      INTEGER,
  conditions TEXT NOT NULL,
  origin     TEXT NOT NULL,
  priority   INTEGER NOT NULL,
  submitted  TEXT NOT NULL,
  deadline   TEXT,
  state      TEXT NOT NULL,
  position   INTEGER,
  cached     INTEGER NOT NULL,
  waited     DOUBLE PRECISION,
  message    TEXT,
  UNIQUE (client, client_key)
);

CREATE INDEX submission_state ON submission (state);
CREATE INDEX submission_run ON submission (run, id);
CREATE INDEX submission_candidate ON submission (candidate);

CREATE TABLE token (
  name    TEXT PRIMARY KEY,
  hash    TEXT NOT NULL UNIQUE,
  scopes  TEXT NOT NULL,
  created TEXT NOT NULL,
  revoked TEXT
);

CREATE TABLE audit (
  at     TEXT NOT NULL,
  client TEXT NOT NULL,
  action TEXT NOT NULL,
  detail TEXT NOT NULL
);

CREATE INDEX audit_at ON audit (at);
