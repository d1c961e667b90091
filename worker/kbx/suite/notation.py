"""Arguments in one comment above a function, for a reference without ``inputs()``::

    # inputs: f32[1024, 1024], i64[128] < 1024, eps=1e-5

A tensor is a dtype with its sizes; integers of ``< N`` are 0 to N - 1, of others 0 to 99, and floats are normal. Anything else is a
literal of Python. Several such lines are several calls, and one ``# weights: 3, 1`` says what part of the time each stands for.
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from kbx.suite.drawn import varied
from kbx.suite.inputs import Call, Inputs, call
from kbx.suite.values import leaves

SHORT = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "f8": torch.float8_e4m3fn, "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2,
    "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64,
    "bool": torch.bool, "c64": torch.complex64, "c128": torch.complex128,
}  # fmt: skip
_NAMES = SHORT | {str(dtype).removeprefix("torch."): dtype for dtype in SHORT.values()}
_BELOW = 100
Notation: TypeAlias = Callable[[Inputs], Call]
"""What makes the call that a comment describes."""
_LINE = re.compile(r"\s*#\s*inputs:\s*(.*)")
_WEIGHTS = re.compile(r"\s*#\s*weights:\s*([\d.].*)")


@dataclass(frozen=True)
class _Tensor:
    dtype: torch.dtype
    shape: tuple[int, ...]
    below: int | None

    def make(self, make: Inputs) -> torch.Tensor:
        if self.dtype.is_floating_point or self.dtype.is_complex:
            return make.floats(*self.shape, dtype=self.dtype)
        if self.dtype == torch.bool:
            return make.bools(*self.shape)
        return make.ints(*self.shape, low=0, high=self.below or _BELOW, dtype=self.dtype)


def above(source: str, line: int) -> list[tuple[int, str]]:
    """``(line, text)`` of each comment of this kind directly above ``line``, from top to bottom."""
    return _comments(source, line, _LINE)


def weights(source: str, line: int) -> list[float]:
    """The numbers of a comment ``# weights: 3, 1`` directly above ``line``; none without one. Raises ValueError."""
    return [float(each) for _, text in _comments(source, line, _WEIGHTS) for each in text.split(",")]


def _comments(source: str, line: int, kind: re.Pattern[str]) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    lines = source.splitlines()
    for number in range(line - 1, 0, -1):
        if not lines[number - 1].lstrip().startswith("#"):
            break
        match = kind.match(lines[number - 1])
        if match:
            found.insert(0, (number, match[1]))
    return found


def parse(text: str) -> Notation:
    """A function of ``Inputs`` that makes the call which a comment describes. Raises ValueError."""
    try:
        arguments = ast.parse(f"_({text})", mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"is not a list of arguments: {error.msg}") from None
    if not isinstance(arguments, ast.Call) or not isinstance(arguments.func, ast.Name):
        raise ValueError("is not a list of arguments")
    args = [_argument(node) for node in arguments.args]
    values = [(each.arg, _argument(each.value)) for each in arguments.keywords]
    kwargs = {name: value for name, value in values if name is not None}
    if len(kwargs) < len(values):
        raise ValueError("cannot hold **")

    def made(make: Inputs) -> Call:
        return call(*(_made(a, make) for a in args), **{name: _made(a, make) for name, a in kwargs.items()})

    return made


def noted(make: Inputs, text: str, variation: str | None = None) -> Call:
    """For ``inputs`` of a task file: the call that ``text`` describes, maybe varied."""
    made = parse(text)(make)
    return made if variation is None else varied(made, variation, make) or made


def shown(arguments: Call) -> str:
    """A call in this notation: ``f32[1024, 1024], 0.5``."""
    names = {dtype: name for name, dtype in SHORT.items()}

    def text(value: object) -> str:
        if isinstance(value, torch.Tensor):
            return f"{names.get(value.dtype, value.dtype)}{list(value.shape)}"
        parts = [text(leaf) for _, leaf in leaves(value)] if isinstance(value, (list, tuple, dict)) else [repr(value)]
        return f"({', '.join(parts)})" if isinstance(value, (list, tuple, dict)) else parts[0]

    return ", ".join([*map(text, arguments.args), *(f"{name}={text(v)}" for name, v in arguments.kwargs.items())])


def _made(argument: Any, make: Inputs) -> Any:
    return argument.make(make) if isinstance(argument, _Tensor) else argument


def _argument(node: ast.expr) -> Any:
    below = None
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt) and len(node.ops) == 1:
        below, node = _literal(node.comparators[0]), node.left
        if type(below) is not int or below < 1:
            raise ValueError(f"has {below!r} after '<', which must be a whole number from 1")
    if isinstance(node, ast.Subscript):
        return _Tensor(_dtype(node.value), _sizes(node.slice), below)
    if below is not None:
        raise ValueError("has '<' after something that is not a tensor")
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "torch":
        return _dtype(node)
    return _literal(node)


def _dtype(node: ast.expr) -> torch.dtype:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else "?"
    if name not in _NAMES:
        raise ValueError(
            f"names the dtype {ast.unparse(node)!r}, which is none of {', '.join(SHORT)}, nor one of PyTorch's names, such as float32"
        )
    return _NAMES[name]


def _sizes(node: ast.expr) -> tuple[int, ...]:
    sizes = _literal(node)
    sizes = sizes if isinstance(sizes, tuple) else (sizes,)
    if not all(type(size) is int and size >= 0 for size in sizes):
        raise ValueError(f"has a tensor of the sizes {ast.unparse(node)}, which must be whole numbers")
    return sizes


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(
            f"holds {ast.unparse(node)}, which is neither a literal nor a tensor such as f32[4, 8]"
        ) from None
