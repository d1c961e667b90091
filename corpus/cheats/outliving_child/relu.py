"""Leaves a daemon behind: two forks and a new session, deaf to signals, meddling with whatever runs next.

The whole process tree of a candidate ends with it, sessions or not: no process may be left. (It gives up by itself
after a minute, in case someone runs it without a sandbox.)

mechanism: verdict/outliving-child
static: process-control
dynamic: wrong_values
"""

import contextlib
import os
import signal
import time

import torch


def daemon():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        time.sleep(0.05)
        with contextlib.suppress(OSError):
            os.write(1, b'{"status": "correct"}\n')
    os._exit(0)


def detach():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            daemon()
        os._exit(0)


with contextlib.suppress(OSError):
    detach()


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    return torch.zeros_like(input)
