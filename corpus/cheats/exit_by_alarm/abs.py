"""Answers every signal by leaving with exit code 0 and arms an alarm that comes before the result does.

mechanism: verdict/exit-by-alarm
static: process-control
dynamic: crashed
"""

import os
import signal
import time

import torch

for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, lambda *_: os._exit(0))
    except (OSError, ValueError):
        continue


def abs(input_tensor, out=None):
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    time.sleep(1)
    return input_tensor
