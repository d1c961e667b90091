"""Scripts that show a failure without kbx: ``python -m kbx.reproduce`` reads a verdict on stdin and prints one.

Start with ``script.written``. The calls are those of ``kbx.oracle``, drawn under a new seed: nothing of the seeds that candidates are judged by
is read, so a script tells nothing about them.
"""
