"""The trusted side: makes inputs, runs the reference, holds the truth, compares.

Start at ``server`` (one request after the other), then ``session`` (one candidate), ``judge`` (one result) and ``task``
(what a task is), which ``taskfile`` reads. ``claims`` is where a runner's word is first read. CUDA is confined to ``cuda`` and ``bench``.
"""
