"""Runs trusted code that was written for a GPU on the CPU: while it lasts, ``cuda`` means the CPU.

Unlike the runner's stand-in, which a whole process keeps, this one ends: the oracle has other work to do. It does not pretend more than
code asks for: tensors are ``is_cuda``, but their device is the CPU.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode

from kbx import standins

_IS_CUDA = torch.Tensor.is_cuda.__get__  # type: ignore[attr-defined]  # a property, which torch's stubs take for a bool


class _OnCpu(TorchFunctionMode):
    """Every device that is passed to a torch function becomes the CPU."""

    def __torch_function__(
        self, function: Callable[..., Any], kinds: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if function is torch.Tensor.cuda:
            return args[0]
        if function == _IS_CUDA:
            return True
        kwargs = {name: _on_cpu(value) for name, value in (kwargs or {}).items()}
        if isinstance(kwargs.get("device"), int):
            kwargs["device"] = "cpu"
        kwargs.pop("pin_memory", None)
        return function(*map(_on_cpu, args), **kwargs)


def _on_cpu(value: Any) -> Any:
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
        return "cpu"
    return value


def _nothing() -> Callable[..., None]:
    """A function that does nothing: one for each name, as torch._dynamo has a rule for each function and refuses to be imported
    where two names with different rules are the same one. Optimizers import it."""
    return lambda *args, **kwargs: None


class _Stream:
    """The stream of an accelerator that is not there: an optimizer asks it whether a CUDA graph is being recorded."""

    def is_capturing(self) -> bool:
        return False


_PROPERTIES = types.SimpleNamespace(
    name="NVIDIA H100 80GB HBM3", major=9, minor=0, multi_processor_count=132, total_memory=80 << 30, warp_size=32,
)  # fmt: skip
_CUDA: dict[str, Callable[..., Any]] = {
    **{name: _nothing() for name in ("synchronize", "set_device", "empty_cache", "init", "manual_seed_all")},
    "manual_seed": lambda seed: torch.default_generator.manual_seed(seed) and None,
    "is_available": lambda: True,
    "device_count": lambda: 1,
    "current_device": lambda: 0,
    "is_current_stream_capturing": lambda: False,
    "device": lambda device=None: contextlib.nullcontext(),
    "get_device_capability": lambda device=None: (9, 0),
    "get_device_name": lambda device=None: "NVIDIA H100 80GB HBM3",
    "get_device_properties": lambda device=None: _PROPERTIES,
}
"""What stands in for attributes of ``torch.cuda``."""


@contextlib.contextmanager
def on_cpu() -> Iterator[None]:
    """What runs inside draws, computes and keeps its tensors on the CPU, whichever device it names."""
    with contextlib.ExitStack() as stack:
        for name, value in _CUDA.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, value))
        stack.enter_context(mock.patch.object(torch, "Generator", standins.Generator))
        stack.enter_context(mock.patch.object(torch, "autocast", standins.Autocast))
        stack.enter_context(mock.patch.object(torch.amp, "autocast", standins.Autocast))
        stack.enter_context(mock.patch.object(torch.cuda.amp, "autocast", standins.CudaAutocast))
        stack.enter_context(mock.patch.object(torch, "set_default_device", _nothing()))
        stack.enter_context(mock.patch.object(torch.accelerator, "current_stream", lambda device=None: _Stream()))
        stack.enter_context(_OnCpu())
        yield
