"""Runs files that compile their PyTorch code as they are written, without compiling it.

A reference says what is right, which its eager code does on every device; its compiled form is a baseline, for which there is a flag.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch


@contextlib.contextmanager
def eager() -> Iterator[None]:
    """While it lasts, ``torch.compile``, ``torch.jit.script``, ``torch.jit.trace`` and ``Module.compile`` leave everything as it is."""
    with (
        mock.patch.object(torch, "compile", _compile()),
        mock.patch.object(torch.jit, "script", lambda given=None, *args, **options: given),
        mock.patch.object(torch.jit, "trace", lambda given=None, *args, **options: given),
        mock.patch.object(torch.nn.Module, "compile", lambda self, *args, **options: None),
    ):
        yield


def _compile() -> Callable[..., Any]:
    """A new function each time: torch._dynamo has a rule for each, and remembers the one that it found."""

    def compile(model: Any = None, **options: Any) -> Any:
        return model if model is not None else lambda given: given

    return compile
