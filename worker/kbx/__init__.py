"""The Python half of kbx: what must run beside the device.

Five rooms:

* ``kbx.protocol``, ``kbx.messages`` and ``kbx.tensors``: what the processes say to each other;
* ``kbx.clock``, ``graphs``, ``results``, ``context``, ``state``, ``precision``, ``cores`` and ``standins``: what the trusted and the
  untrusted side do alike, so that they are compared fairly: neither has a copy of its own;
* ``kbx.runner``: the untrusted side (zygote, sandbox, bench for one candidate);
* ``kbx.oracle``: the trusted side (inputs, reference, truth, comparison, baseline);
* ``kbx.suite``: what a task file may import.

``kbx.runner`` never imports ``kbx.oracle`` or ``kbx.suite``: a candidate must not find a reference in its memory.
"""

PROTOCOL = 4
"""Version of the messages in ``kbx.messages``; the referee refuses a worker that speaks another."""
