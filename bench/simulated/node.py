"""A node's kbx that finds every candidate correct, for bench/cluster.sh and tests of the cluster: it speaks kbx node's frames.

With --device cuda:N it has a GPU, and flags candidates that another node has compiled.

node.py [--capacity N] [--seconds S] [--slow S] ...   S for each candidate, for those that say SLOW; what the bridge adds is ignored
"""

import argparse
import json
import os
import struct
import sys
import threading
import time

CPU = {"kind": "cpu", "name": "simulated node"}
GPU = {"kind": "cuda", "name": "simulated GPU", "arch": "sm_90"}
VERSIONS = {"kbx": "simulated"}


def answer(request, device):
    """The answer to a request to judge or to compile."""
    if request["type"] == "compile":
        return {
            "type": "compiled",
            "id": request["id"],
            "binaries": {"key": request["arch"], "compiled": {"files": {"a.cubin": ""}, "kernels": {}}},
        }
    judgement = {
        "status": "correct",
        "stage": "correct",
        "call_ok": True,
        "exe_ok": True,
        "grade": "published",
        "policy": "kernel",
        "flags": ["compiled"] if request.get("compiled") else [],
        "device": device,
        "versions": VERSIONS,
        "seconds": {},
    }
    return {"type": "judged", "id": request["id"], "judgement": judgement}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--capacity", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--slow", type=float, default=90)
    parser.add_argument("--device", default="cpu")
    given, _ = parser.parse_known_args()
    device = CPU if given.device == "cpu" else GPU
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

    send({"type": "ready", "device": device, "versions": VERSIONS, "capacity": given.capacity})
    while len(header := sys.stdin.buffer.read(8)) == 8:
        length, _ = struct.unpack(">II", header)
        request = json.loads(sys.stdin.buffer.read(length))
        if request["type"] not in ("judge", "compile"):
            continue
        seconds = given.slow if "SLOW" in request["candidate"]["code"] else given.seconds
        if seconds:
            threading.Thread(target=later, args=(answer(request, device), seconds), daemon=True).start()
        else:
            send(answer(request, device))


if __name__ == "__main__":
    main()
