"""A cluster whose nodes without a GPU compile for the one that has it, until they are killed.

    compiling.py OUT KBX...     KBX starts kbx; KBX_RAY_PYTHON names a Python with Ray

Simulated nodes, real Ray: every candidate must be judged once, on the GPU, and all but those that it takes at once after another node has
compiled them, or was killed while it did.
"""

import pathlib
import sys

from soak import Nodes, candidates, check, finish, judged, left, start, until

COUNT = 40
AT_ONCE = 4
"""Candidates that a simulated node judges at a time."""

NODES = 2


def main():
    out, kbx = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    out.mkdir(parents=True)
    file = out / "candidates.jsonl"
    candidates(file, COUNT)
    nodes = Nodes(out, NODES, "compiling")
    try:
        run = start(kbx, out, nodes.address, file, "run.log")
        until(lambda: len(judged(out)) >= COUNT // 2)
        for number in range(NODES):
            nodes.tell("kill", number)
        finish(run, out)
        check(out, COUNT)
        until(lambda: not left(out))
        verdicts = judged(out)
        assert {v["device"]["name"] for v in verdicts} == {"simulated GPU"}
        compiled = [v for v in verdicts if "compiled" in v["flags"]]
        print(f"{len(compiled)} of {COUNT} compiled on another node", flush=True)
        assert COUNT // 4 <= len(compiled) <= COUNT - AT_ONCE
    finally:
        nodes.close()


if __name__ == "__main__":
    main()
