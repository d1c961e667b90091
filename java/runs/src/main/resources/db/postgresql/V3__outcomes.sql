-- What rates are counted by: 1, 0, or NULL where it is not known.

ALTER TABLE verdict ADD COLUMN grade TEXT;
ALTER TABLE verdict ADD COLUMN call_ok INTEGER;
ALTER TABLE verdict ADD COLUMN exe_ok INTEGER;
ALTER TABLE verdict ADD COLUMN published_ok INTEGER;
ALTER TABLE verdict ADD COLUMN general_ok INTEGER;

-- By pattern: a body may hold \u0000, which PostgreSQL's own JSON does not take. Quotes inside of texts are escaped.
UPDATE verdict SET
  grade = substring(body FROM '"grade":"([a-z]+)"'),
  call_ok = substring(body FROM '"call_ok":(true|false)')::boolean::integer,
  exe_ok = substring(body FROM '"exe_ok":(true|false)')::boolean::integer,
  published_ok = substring(body FROM '"published_ok":(true|false)')::boolean::integer,
  general_ok = substring(body FROM '"general_ok":(true|false)')::boolean::integer;
