"""A run through Ray's client, as from a machine outside the cluster: judged as elsewhere, interrupted, and resumed.

client.py OUT KBX...     KBX starts kbx; KBX_RAY_PYTHON names a Python with Ray
"""

import pathlib
import signal
import sys

import ray
from ray.autoscaler._private.constants import AUTOSCALER_RESOURCE_REQUEST_CHANNEL
from ray.experimental.internal_kv import _internal_kv_get
from soak import Nodes, candidates, check, finish, interrupt, left, start, until

COUNT = 60


def main():
    out, kbx = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    out.mkdir(parents=True)
    file = out / "candidates.jsonl"
    candidates(file, COUNT)
    nodes = Nodes(out, 2, "client")
    try:
        assert nodes.address.startswith("ray://")
        interrupt(kbx, out, nodes, file, signal.SIGKILL)
        resumed = start(kbx, out, nodes.address, file, "resumed.log", "--resume", "--cluster-slots", 2)
        finish(resumed, out, "resumed.log")
        check(out, COUNT)
        until(lambda: not left(out))
        ray.init(nodes.address, logging_level="ERROR")
        assert _internal_kv_get(AUTOSCALER_RESOURCE_REQUEST_CHANNEL) == b"[]", "no request was made, or it stays"
    finally:
        ray.shutdown()
        nodes.close()


if __name__ == "__main__":
    main()
