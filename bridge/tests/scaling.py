"""A run on a cluster that begins without nodes: its autoscaler adds them while candidates wait, and removes them when there is less to do.

    scaling.py OUT KBX...     KBX starts kbx; KBX_RAY_PYTHON names a Python with Ray

Simulated judging; a real Ray, autoscaler and nodes, all on this machine.
"""

import pathlib
import sys

import ray
from soak import Nodes, candidates, check, finish, judged, left, start, until

MOST = 3
COUNT = 120


def main():
    out, kbx = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    out.mkdir(parents=True)
    file = out / "candidates.jsonl"
    candidates(file, COUNT)
    file.write_text(file.read_text().replace("VARIANT = 0", "SLOW = 0"))
    nodes = Nodes(out, MOST, "scaling")
    try:
        ray.init(nodes.address, log_to_driver=False, logging_level="ERROR")
        follow(kbx, out, nodes, file)
    finally:
        ray.shutdown()  # First: it ends a process whose cluster is gone.
        nodes.close()


def follow(kbx, out, nodes, file):
    def workers():
        return sum(node["Alive"] for node in ray.nodes()) - 1

    assert workers() == 0
    run = start(kbx, out, nodes.address, file, "run.log", "--device", "cpu", "--cluster-slots", MOST)
    most = 0

    def grown():
        nonlocal most
        most = max(most, workers())
        return most == MOST or run.poll() is not None

    until(grown)
    print(f"{most} nodes while candidates wait, {len(judged(out))} judged", flush=True)
    assert most == MOST
    until(lambda: workers() == 1 or run.poll() is not None)
    print(f"{workers()} nodes for the last candidate, {len(judged(out))} judged", flush=True)
    assert workers() == 1
    assert len(judged(out)) == COUNT - 1
    finish(run, out)
    check(out, COUNT)
    until(lambda: workers() == 0)
    print("0 nodes after the run", flush=True)
    assert not left(out)


if __name__ == "__main__":
    main()
