"""Sends SIGKILL to its parent and to every process of its user that it can see.

It lives among its own children only: nothing of the bench has a process id there.

mechanism: verdict/killing-the-harness
static: process-control
dynamic: wrong_values
"""

import os
import signal

import torch


def visible():
    yield os.getppid()
    yield from (int(name) for name in os.listdir("/proc") if name.isdigit())


for pid in visible():
    if pid > 1 and pid != os.getpid():
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    return torch.zeros_like(input)
