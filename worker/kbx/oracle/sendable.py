"""What can be an argument in another process, and what to do about what cannot."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable

import torch
from torch import nn

from kbx import tensors
from kbx.suite.values import articled


def obstacle(value: object) -> str | None:
    """Why a leaf of a call cannot be sent to another process, and what can in its place, as the rest of a sentence that begins with its
    name; None where it can."""
    if isinstance(value, torch.Tensor):
        return _of_tensor(value)
    if tensors.encode(value, tensors.no_tensors)["t"] != "opaque":
        return None
    return f"is {articled(type(value).__name__)}, which cannot be sent to another process: {_instead(value)}"


def named_tuple(value: object, path: str) -> str | None:
    """The first named tuple in a value, as a sentence: another process would have its values without their names."""
    if isinstance(value, torch.Size):
        return None
    if isinstance(value, dict):
        return _first(named_tuple(v, f"{path}[{k!r}]") for k, v in value.items())
    if not isinstance(value, (list, tuple)):
        return None
    fields = getattr(value, "_fields", None)
    if fields is None:
        return _first(named_tuple(v, f"{path}[{i}]") for i, v in enumerate(value))
    return f"{path} is {articled(type(value).__name__)}, a named tuple, whose names other processes do not know: pass a plain tuple, or {_fields(fields)}"


def _first(found: Iterable[str | None]) -> str | None:
    return next(filter(None, found), None)


def _of_tensor(tensor: torch.Tensor) -> str | None:
    if tensor.layout != torch.strided or tensor.is_nested:
        kind = "nested" if tensor.is_nested else str(tensor.layout).removeprefix("torch.")
        parts = "values and offsets" if tensor.is_nested else "indices and values"
        return f"is a {kind} tensor, and only dense ones are passed: pass its {parts}, and make it in the function"
    if tensor.is_quantized:
        return "is a quantized tensor: pass int_repr(), the scale and the zero point"
    if tensor.dtype not in tensors.DTYPES.values():
        return f"is a tensor of {tensor.dtype}, which is not passed{_other(tensor.dtype)}"
    return None


def _other(dtype: torch.dtype) -> str:
    if dtype.itemsize == 1:
        return ": pass a view of it as torch.uint8"
    return ": use another dtype" + (", such as torch.complex64" if dtype == torch.complex32 else "")


def _instead(value: object) -> str:
    if dataclasses.is_dataclass(value):
        return f"pass {_fields(field.name for field in dataclasses.fields(value))}"
    if isinstance(value, enum.Enum):
        return f"pass its value, {value.value!r}"
    if isinstance(value, nn.Module):
        return "pass its weights, or construct it in a class Model"
    if callable(value):
        return "call it in the reference, or pass a string that says which"
    if isinstance(value, torch.Generator):
        return "draw in inputs() what the function needs"
    return "pass numbers, strings, tensors, or lists and dicts of them"


def _fields(names: Iterable[str]) -> str:
    return f"its fields ({', '.join(names)}) as arguments"
