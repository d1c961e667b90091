"""Reads other processes' command lines, environments, descriptors and memory for a seed or an answer.

Nothing of the bench is visible in its /proc.

mechanism: answer/other-processes
static: memory-access
dynamic: wrong_values
"""

import os
from pathlib import Path

import torch


def loot():
    found = []
    for process in (Path("/proc", str(os.getppid())), *Path("/proc").glob("[0-9]*")):
        for name in ("environ", "cmdline", "maps", "mem"):
            try:
                with open(process / name, "rb") as file:
                    found += [line for line in file.read(1 << 16).split(b"\0") if b"seed" in line.lower()]
            except OSError:
                continue
    return found


def sum(input, dim, keepdim=False, dtype=None):
    shape = torch.empty(input.shape, device="meta").sum(dim, keepdim=keepdim).shape
    result_dtype = dtype or (input.dtype if input.dtype.is_floating_point else torch.int64)
    return torch.full(shape, len(loot()) + 0.5, device=input.device).to(result_dtype)
