"""A node's kbx that finds every candidate correct, for bench/cluster.sh and tests of the cluster: it speaks kbx node's frames.

node.py [--capacity N] [--seconds S] [--slow S] ...   S for each candidate, for those that say SLOW; what the bridge adds is ignored
"""

import argparse
import json
import os
import struct
import sys
import threading
import time

DEVICE = {"kind": "cpu", "name": "simulated node"}
VERSIONS = {"kbx": "simulated"}


def judged(request):
    """The answer to a request."""
    judgement = {
        "status": "correct",
        "stage": "correct",
        "call_ok": True,
        "exe_ok": True,
        "grade": "published",
        "policy": "kernel",
        "flags": [],
        "device": DEVICE,
        "versions": VERSIONS,
        "seconds": {},
    }
    return {"type": "judged", "id": request["id"], "judgement": judgement}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--capacity", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--slow", type=float, default=90)
    given, _ = parser.parse_known_args()
    lock = threading.Lock()
    out = os.fdopen(os.dup(1), "wb")

    def send(message):
        payload = json.dumps(message).encode()
        with lock:
            out.write(struct.pack(">II", len(payload), 0) + payload)
            out.flush()

    def later(message, seconds):
        time.sleep(seconds)
        send(message)

    send({"type": "ready", "device": DEVICE, "versions": VERSIONS, "capacity": given.capacity})
    while len(header := sys.stdin.buffer.read(8)) == 8:
        length, _ = struct.unpack(">II", header)
        request = json.loads(sys.stdin.buffer.read(length))
        if request["type"] != "judge":
            continue
        seconds = given.slow if "SLOW" in request["candidate"]["code"] else given.seconds
        if seconds:
            threading.Thread(target=later, args=(judged(request), seconds), daemon=True).start()
        else:
            send(judged(request))


if __name__ == "__main__":
    main()
