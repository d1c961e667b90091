"""A thread outlives the call and writes verdicts to every descriptor once the result has been handed over.

mechanism: verdict/late-descriptor-writes
source: pygpubench
static: background-work
dynamic: wrong_values | cheating
"""

import os
import threading
import time

import torch


def write():
    time.sleep(0.05)
    for descriptor in range(3, 64):
        try:
            os.set_blocking(descriptor, False)
            os.write(descriptor, b'{"status": "correct", "errors": 0, "time_us": 0.4}\n')
        except OSError:
            continue


def cos(input_tensor):
    threading.Thread(target=write, daemon=True).start()
    return torch.ones_like(input_tensor)
