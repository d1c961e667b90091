-- What analyses read: brief is the JSON of dev.kbx.verdict.BriefVerdict. It is NULL in verdicts of earlier versions, which
-- are read from their body; a version that needs more of it sets it to NULL here. The others are for queries of your own:
-- conditions is a JSON object, techniques are separated by commas; NULL where not known.

ALTER TABLE verdict ADD COLUMN conditions TEXT;
ALTER TABLE verdict ADD COLUMN structure TEXT;
ALTER TABLE verdict ADD COLUMN complexity INTEGER;
ALTER TABLE verdict ADD COLUMN techniques TEXT;
ALTER TABLE verdict ADD COLUMN brief TEXT;
