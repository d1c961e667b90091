"""The arguments of a launch as the executor takes them: addresses, numbers and descriptors, one for each parameter of the compiled kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

# Taken before any candidate is loaded.
_Tensor, _DisableTorchFunction = torch.Tensor, torch._C.DisableTorchFunction


def described(arguments: Sequence[Any], types: Mapping[str, Any]) -> tuple[list[str], list[Any], dict[int, int]]:
    """The names of the parameters that a compiled kernel has, their arguments as the executor is told of them, and the bytes of each tensor's
    memory by its address. ``arguments`` holds every parameter in order, constexprs included; ``types`` is Triton's signature (name to type)."""
    with _DisableTorchFunction():
        passed = list(_passed(list(types), arguments, list(types.values())))
        names, given = [name for name, _ in passed], [argument for _, argument in passed]
        return names, [_told(each) for each in given], dict(_storages(given))


def _passed(names: Sequence[str], arguments: Sequence[Any], types: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Those arguments that the compiled kernel takes, with the names of their parameters."""
    for name, argument, kind in zip(names, arguments, types, strict=True):
        if isinstance(kind, (tuple, list)):
            yield from _passed([f"{name}[{i}]" for i in range(len(kind))], argument, kind)
        elif kind != "constexpr":
            yield name, argument


def _told(argument: Any) -> Any:
    """An argument as the executor takes it."""
    if _is_descriptor(argument):
        return {
            "descriptor": argument.base.data_ptr(),
            "shape": [int(size) for size in argument.shape],
            "strides": [int(stride) for stride in argument.strides],
            "nan": getattr(argument, "padding", "zero") == "nan",
            "tf32": bool(getattr(argument, "round_f32_to_tf32", False)),
        }
    if argument is None or type(argument) in (bool, int):
        return argument
    if hasattr(argument, "data_ptr"):
        return argument.data_ptr()
    if isinstance(argument, (bool, int)):
        return int(argument)
    return {"float": float(argument).hex()}


def _storages(given: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Address and bytes of the memory of each tensor among arguments."""
    for argument in given:
        tensor = argument if isinstance(argument, _Tensor) else getattr(argument, "base", None)
        if isinstance(tensor, _Tensor):
            storage = tensor.untyped_storage()
            yield storage.data_ptr(), storage.nbytes()


def _is_descriptor(argument: Any) -> bool:
    return hasattr(argument, "block_shape") and hasattr(argument, "base")
