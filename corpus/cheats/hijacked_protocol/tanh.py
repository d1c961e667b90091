"""Takes the conversation over at import: reads the questions itself and answers each with the result of a shape, unread.

mechanism: verdict/hijacked-protocol
source: pygpubench
static: descriptor-writes
dynamic: wrong_values | cheating
"""

import json
import os
import struct

import torch

CONTROL = 3


def read(count):
    data = b""
    while len(data) < count:
        data += os.read(CONTROL, count - len(data))
    return data


def answer(**body):
    payload = json.dumps(body).encode()
    os.write(CONTROL, struct.pack(">II", len(payload), 0) + payload)


def first_tensor(request):
    return next(v for v in [*request["args"], *request["kwargs"].values()] if v["t"] == "tensor")


def impersonate():
    while True:
        length, _ = struct.unpack(">II", read(8))
        request = json.loads(read(length))
        leaf = dict(first_tensor(request), arena="out", offset=0, device="cuda")
        dense = list(torch.empty(leaf["shape"], device="meta").stride())
        leaf.update(stride=dense, own_stride=dense)
        answer(type="returned", id=request["id"], value=leaf, seconds=1e-6, launches=1, compiled=[], configurations=[])


def loading():
    import sys

    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "_load":
            return frame.f_locals.get("request")
        frame = frame.f_back
    return None


question = loading()
if question is not None:
    answer(type="loaded", id=question.id, entry="tanh", seconds=0.0)
    impersonate()


def tanh(input_tensor, out_tensor=None):
    return torch.zeros_like(input_tensor)
