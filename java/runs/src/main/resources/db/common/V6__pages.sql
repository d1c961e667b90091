-- What the pages of kbx serve are counted and searched by, without a look at any verdict's body.

CREATE INDEX verdict_run ON verdict (run, status, category, task, method, model, position, call_ok, general_ok, speedup);
CREATE INDEX verdict_task ON verdict (suite, category, task, device, status, run, position, speedup);
CREATE INDEX verdict_board ON verdict (suite, grade, device, method, model, category, task, sample, run, round, status, general_ok, speedup, baseline);
