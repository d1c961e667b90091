"""The Python half of kbx: the processes that use the device.

Six parts:

* ``kbx.protocol``, ``kbx.messages`` and ``kbx.tensors``: the protocol between the processes;
* ``kbx.shapes`` and ``modes``: PyTorch on shapes alone, for both sides; ``kbx.bytecode``, which both begin with;
* ``kbx.clock``, ``graphs``, ``results``, ``context``, ``state``, ``precision``, ``cores`` and ``standins``: code shared by the trusted
  and the untrusted side, so that both are timed alike;
* ``kbx.runner``: the untrusted side (zygote, sandbox, bench for one candidate);
* ``kbx.oracle``: the trusted side (inputs, reference, truth, comparison, baseline);
* ``kbx.suite``: what a task file may import.

``kbx.runner`` never imports ``kbx.oracle`` or ``kbx.suite``: a candidate must not find a reference in its memory.
"""

PROTOCOL = 9
"""Version of the messages in ``kbx.messages``; the referee refuses a worker that speaks another."""
