"""A run whose cluster is killed, head and all, and starts again at the same address: kbx connects again and judges all once.

restart.py OUT KBX...     KBX starts kbx; KBX_RAY_PYTHON names a Python with Ray
"""

import pathlib
import sys

from soak import Nodes, candidates, check, judged, left, start, until

COUNT = 120


def main():
    out, kbx = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    out.mkdir(parents=True)
    file = out / "candidates.jsonl"
    candidates(file, COUNT)
    nodes = Nodes(out, 2)
    try:
        run = start(kbx, out, nodes.address, file, "run.log")
        until(lambda: judged(out) or run.poll() is not None)
        nodes.tell("restart")
        print(len(judged(out)), "judged before", flush=True)
        until(lambda: run.poll() is not None, 300)
        print(
            *(line for line in (out / "run.log").read_text().splitlines() if line.startswith("kbx:")),
            sep="\n",
            flush=True,
        )
        assert run.returncode == 0
        check(out, COUNT)
        until(lambda: not left(out))
    finally:
        nodes.close()


if __name__ == "__main__":
    main()
