"""Answers the question itself, on the socket that it finds among its descriptors, and leaves before anyone can look.

mechanism: verdict/forged-then-exit
source: pygpubench
static: descriptor-writes
dynamic: cheating
"""

import json
import os
import socket
import struct

import torch


def sockets():
    for fd in range(3, 64):
        try:
            yield socket.socket(fileno=os.dup(fd))
        except OSError:
            continue


def sigmoid(input, out=None):
    leaf = {"t": "tensor", "arena": "out", "offset": 0, "shape": list(input.shape), "dtype": "float32",
            "stride": list(input.stride()), "own_stride": list(input.stride()), "device": "cuda"}  # fmt: skip
    for number in range(1, 8):
        answer = {"type": "returned", "id": number, "value": leaf, "seconds": 0.0, "launches": 1,
                  "compiled": [], "configurations": []}  # fmt: skip
        payload = json.dumps(answer).encode()
        for link in sockets():
            link.sendall(struct.pack(">II", len(payload), 0) + payload)
    os._exit(0)
