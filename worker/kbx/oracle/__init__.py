"""The trusted side: makes inputs, runs the reference, holds the truth, compares.

Start at ``server`` (serves requests), then ``session`` (one candidate), ``judge`` (compares one result) and ``task``
(a task, read by ``taskfile``). ``claims`` parses a runner's values. CUDA is confined to ``cuda`` and ``bench``.
"""
