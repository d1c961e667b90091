-- Keys of judgements no longer name the card, so that one look-up does for all cards: nothing is found under the keys before.

DROP TABLE judgement;

CREATE TABLE judgement (
  judged_as TEXT NOT NULL,
  card      TEXT NOT NULL, -- UUID; empty for a CPU
  candidate TEXT NOT NULL,
  body      TEXT NOT NULL,
  PRIMARY KEY (judged_as, card)
);
