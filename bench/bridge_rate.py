"""How many judgements a second the bridge and Ray carry, without the JVM: bridge_rate.py ADDRESS SECONDS, for bench/cluster.sh.

Speaks to the bridge as kbx does: 16 slots of 16 candidates whose nodes answer at once, 3 kB for each candidate.
"""

import importlib
import json
import os
import pathlib
import subprocess
import sys
import time

HOME = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HOME / "worker"))
protocol = importlib.import_module("kbx.protocol")

SLOTS = CAPACITY = 16


def main():
    address, seconds = sys.argv[1], float(sys.argv[2])
    command = [sys.executable, str(HOME / "bench/simulated/node.py"), "--capacity", str(CAPACITY)]
    bridge = subprocess.Popen(
        [
            sys.executable,
            "-u",
            "-m",
            "kbx_bridge",
            "--address",
            address,
            "--device",
            "cuda",
            "--command",
            json.dumps(command),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": f"{HOME / 'worker'}:{HOME / 'bridge'}"},
    )
    number, ready, answers, begin = 0, 0, 0, None

    def judge(slot):
        nonlocal number
        number += 1
        request = {"type": "judge", "id": number, "candidate": {"code": "x" * 3000}, "plan": {}}
        protocol.write_frame(bridge.stdin, json.dumps(request).encode(), slot)

    while begin is None or time.monotonic() - begin < seconds:
        slot, payload = protocol.read_frame(bridge.stdout)
        if not slot:
            continue
        if json.loads(payload)["type"] == "ready":
            ready += 1
            for _ in range(CAPACITY):
                judge(slot)
            begin = time.monotonic() if ready == SLOTS else None
            answers = 0
        else:
            answers += 1
            judge(slot)
    print(f"{answers / (time.monotonic() - begin):.0f} judgements a second through the bridge alone")
    bridge.stdin.close()
    bridge.stdout.read()
    bridge.wait()


if __name__ == "__main__":
    main()
