"""Why a GPU has stopped a launch: the same launch, executed on the host.

The device says that an address was illegal and nothing else, and what the launch worked on is lost with it. But where a kernel reads
and writes hardly ever depends on what its tensors hold: so its compiled Triton IR is executed on zeros of the same sizes, and what
leaves them is told with line, tensor and distance. Nothing is decided by that.
"""

import threading

import numpy as np

from kbx.executor.server import argument
from kbx.runner import execution
from kbx.ttir.executor import Kernel
from kbx.ttir.findings import OUT_OF_BOUNDS, in_program
from kbx.ttir.launch import Launch
from kbx.ttir.memory import Memory, Region

_SECONDS = 5.0
"""Nobody waits longer for words."""
_MOST_BYTES = 1 << 30


def explained(ttir, types, grid, arguments):
    """``line 12 in program (3, 0, 0): reads up to 108 bytes behind the end of w (148 bytes), 27 lanes``; None where nothing is found, or
    not in time.

    ``ttir``: the kernel's text; ``types``: Triton's signature, name to type; ``arguments``: every parameter in order, constexprs included.
    """
    names, told, storages = execution.described(arguments, types)
    if sum(storages.values()) > _MOST_BYTES:
        return None
    found = []

    def look():
        regions = [Region(start, np.zeros(length, np.uint8)) for start, length in storages.items() if length]
        launch = Launch(tuple(grid), Memory(regions), checks=False)
        Kernel(ttir).run(launch, [argument(each) for each in told], names)
        found.extend(each for each in launch.findings if each.kind == OUT_OF_BOUNDS)

    thread = threading.Thread(target=_quietly, args=(look,), daemon=True)
    thread.start()
    thread.join(_SECONDS)
    return f"line {found[0].line}{in_program(found[0].program)}: {found[0].text}" if found else None


def _quietly(look):
    try:
        look()
    except Exception:
        return  # what cannot be executed stays unexplained
