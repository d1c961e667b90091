-- Sessions: several turns at one task, each a submission that is judged on development inputs. Its judgement is here and not among the
-- verdicts, which are of held-out inputs.

CREATE TABLE session (
  id         TEXT PRIMARY KEY NOT NULL,
  client     TEXT NOT NULL,
  client_key TEXT,
  run        TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  suite      TEXT NOT NULL,
  task       TEXT NOT NULL,
  method     TEXT NOT NULL,
  sample     INTEGER NOT NULL,
  settings   TEXT NOT NULL,
  start      TEXT,
  begun      TEXT NOT NULL,
  state      TEXT NOT NULL,
  ended      TEXT,
  answer     INTEGER,
  why        TEXT,
  UNIQUE (client, client_key),
  UNIQUE (run, method, task, sample)
);

CREATE INDEX session_client ON session (client, state, begun);

-- The session of a turn, whose round is its number, and of an answer, which has no round.

ALTER TABLE submission ADD COLUMN session TEXT;

CREATE UNIQUE INDEX submission_session ON submission (session, round);

CREATE TABLE turn (
  submission TEXT PRIMARY KEY NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
  judgement  TEXT NOT NULL,
  judged     TEXT NOT NULL
);
