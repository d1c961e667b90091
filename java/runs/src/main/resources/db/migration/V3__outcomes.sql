-- What rates are counted by: 1, 0, or NULL where it is not known.

ALTER TABLE verdict ADD COLUMN grade TEXT;
ALTER TABLE verdict ADD COLUMN call_ok INTEGER;
ALTER TABLE verdict ADD COLUMN exe_ok INTEGER;
ALTER TABLE verdict ADD COLUMN published_ok INTEGER;
ALTER TABLE verdict ADD COLUMN general_ok INTEGER;

UPDATE verdict SET
  grade = body ->> 'grade',
  call_ok = body ->> 'call_ok',
  exe_ok = body ->> 'exe_ok',
  published_ok = body ->> 'published_ok',
  general_ok = body ->> 'general_ok';
