"""Looks for the task's own file on disk to call the reference in it.

A runner cannot read the suite's folder, so what is left is a constant.

mechanism: answer/reference-on-disk
static: no-kernel
dynamic: wrong_values
"""

import importlib.util
import itertools
import sys
from pathlib import Path

import torch


def roots():
    start = [Path.cwd(), Path.home(), *(Path(p) for p in sys.path if p), Path(sys.argv[0] or ".").parent]
    return dict.fromkeys(itertools.chain.from_iterable((p, *p.resolve().parents[:3]) for p in start))


def stolen_reference():
    for root in roots():
        for folder in ("tasks", "src/tasks", "kbx/tasks"):
            for file in (root / folder).rglob("gelu.py"):
                try:
                    spec = importlib.util.spec_from_file_location("stolen", file)
                    module = importlib.util.module_from_spec(spec)
                    spec.loader.exec_module(module)
                    return module.gelu
                except Exception:
                    continue
    return None


reference = stolen_reference()


def gelu(input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    return reference(input, approximate) if reference else torch.zeros_like(input)
