"""Definitions and workloads of SOL-ExecBench and flashinfer-bench, as ``kbx tasks import`` writes them into task files.

A definition names axes, inputs and outputs; a workload gives each variable axis a size. A task file holds both as ``DEFINITION``, and
below it the definition's reference, a function ``run`` of the inputs in their order::

    AXES = ["rows", "width = 4096", "half = width // 2"]
    INPUTS = ["x: float16[rows, width]", "eps: float32"]
    OUTPUTS = ["y: float16[rows, half]"]
    DEFINITION = defined(AXES, INPUTS, OUTPUTS, [Workload("first", {"rows": 32}, {"eps": 1e-6})])
"""

import ast
import json
import math
import random
import re
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch._subclasses.fake_tensor import FakeTensor

from kbx.suite import errors
from kbx.suite.contracts import Outcome
from kbx.suite.inputs import Call, Inputs
from kbx.suite.original import OriginalRules
from kbx.suite.values import articled, leaves

Scalar: TypeAlias = bool | int | float
Axes: TypeAlias = dict[str, int]

_TENSOR = re.compile(r"(\w+)(?:\[(.*)\])?")
_ALLOWED = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Name, ast.Constant, ast.Load,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip
_BELOW = {torch.int8: 128}
"""Random integers are at least the negative of this, and below it; of other dtypes 1024."""
_INTEGERS = 1024
_MOST_HEADER = 100 << 20
"""Bytes of the header of a safetensors file."""
_SAFE = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2, "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
    "BOOL": torch.bool,
}  # fmt: skip
"""Dtypes by the names that such files have for them."""
_USUAL = {"max_atol": 1e-2, "max_rtol": 1e-2, "required_matched_ratio": 1.0, "max_error_cap": math.inf}
"""What the benchmarks' own tests allow where a workload does not say."""


@dataclass(frozen=True)
class Workload:
    """One instance of a definition: ``axes`` are sizes of its variable axes, ``scalars`` the values of inputs that have them, ``files`` the
    safetensors file of inputs that were recorded, and their key there. Its other inputs are random. ``tolerance``: what the benchmark's own test
    allows, as ``DefinitionRules`` has it."""

    uuid: str
    axes: Axes
    scalars: dict[str, Scalar] = field(default_factory=dict)
    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    tolerance: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Definition:
    """``axes`` are None (variable), a size, or an expression of other axes; ``inputs`` and ``outputs`` a dtype with the names or sizes of
    axes in brackets, a dtype alone for a scalar. ``custom`` names the function of the reference's that makes all inputs of a workload."""

    axes: dict[str, int | str | None]
    inputs: dict[str, str]
    outputs: dict[str, str]
    workloads: list[Workload]
    constraints: list[str] = field(default_factory=list)
    custom: str | None = None

    def sizes(self, workload: Workload) -> Axes:
        """The size of every axis. Raises ValueError where one has none, or a constraint on them does not hold."""
        found = {name: size for name, size in self.axes.items() if isinstance(size, int)}
        for name, size in self.axes.items():
            if size is None and name not in workload.axes:
                raise ValueError(f"workload {workload.uuid} gives the axis {name!r} no size")
        found |= {name: size for name, size in workload.axes.items() if name in self.axes}
        expressions = {name: size for name, size in self.axes.items() if isinstance(size, str)}
        while expressions:
            ready = [name for name, text in expressions.items() if _names(text) <= found.keys()]
            if not ready:
                raise ValueError(f"the axis {next(iter(expressions))!r} depends on what is no other axis")
            for name in ready:
                value = _value(expressions.pop(name), found)
                if value != int(value) or value < 0:
                    raise ValueError(f"workload {workload.uuid} makes the axis {name!r} {value}")
                found[name] = int(value)
        for text in self.constraints:  # one on the values of inputs is the reference's to check
            if _is_expression(text) and _names(text) <= found.keys() and not _value(text, found):
                raise ValueError(f"workload {workload.uuid} breaks the constraint {text!r}")
        return found

    def call(self, workload: Workload, make: Inputs) -> Call:
        """The inputs of a workload, none of which is custom: random floats are normal, as the benchmarks draw them."""
        sizes = self.sizes(workload)
        scalars = random.Random(make.generator.initial_seed())

        def made(name: str, text: str) -> Any:
            if name in workload.scalars:
                return workload.scalars[name]
            dtype, shape = tensor(text, sizes)
            if name in workload.files:
                return _recorded(workload, name, text, (dtype, shape)).to(make.device)
            return _scalar(scalars, dtype) if shape is None else _tensor(make, dtype, shape)

        return Call(tuple(made(name, text) for name, text in self.inputs.items()))

    def tolerance(self, call: Call) -> dict[str, float]:
        """That of the first workload whose inputs have the shapes of a call's; empty where none has, or none is stated."""
        shapes = [tuple(value.shape) if isinstance(value, torch.Tensor) else None for value in call.args]
        for workload in self.workloads:
            sizes = self.sizes(workload)
            if [tensor(text, sizes)[1] for text in self.inputs.values()] == shapes:
                return workload.tolerance
        return {}

    def nbytes(self, workload: Workload) -> int:
        """Bytes of a workload's inputs."""
        sizes = self.sizes(workload)
        found = [tensor(text, sizes) for text in self.inputs.values()]
        return sum(dtype.itemsize * math.prod(shape) for dtype, shape in found if shape is not None)

    def ordered(self, workload: Workload, made: Any) -> Call:
        """The inputs that the custom function returned. Raises ValueError where they are not those of the definition."""
        if not isinstance(made, dict) or made.keys() != self.inputs.keys():
            found = (
                f"the names {', '.join(map(str, made))}" if isinstance(made, dict) else articled(type(made).__name__)
            )
            raise ValueError(f"returned {found}; its inputs are {', '.join(self.inputs)}")
        sizes = self.sizes(workload)
        for name, text in self.inputs.items():
            _, shape = tensor(text, sizes)
            is_tensor = isinstance(made[name], torch.Tensor)
            if is_tensor != (shape is not None) or (is_tensor and tuple(made[name].shape) != shape):
                got = list(made[name].shape) if is_tensor else type(made[name]).__name__
                raise ValueError(f"made {name!r} {got} for workload {workload.uuid}; its definition says {text}")
        return Call(tuple(made[name] for name in self.inputs))

    def results(self, returned: Any) -> Any:
        """What a reference returned: of one output itself, of several a tuple in their order. Raises ValueError where outputs are
        missing."""
        if isinstance(returned, dict):
            returned = tuple(returned.get(name) for name in self.outputs)
        found = tuple(returned) if isinstance(returned, (list, tuple)) else (returned,)
        if len(found) != len(self.outputs) or any(value is None for value in found):
            raise ValueError(f"returned {len(found)} results; its outputs are {', '.join(self.outputs)}")
        return found[0] if len(found) == 1 else found

    def mistaken(self, workload: Workload, results: Any) -> str | None:
        """What of ``results`` is not as the definition says: a dtype or a shape; None where all is."""
        sizes = self.sizes(workload)
        found = results if isinstance(results, tuple) else (results,)
        for (name, text), value in zip(self.outputs.items(), found, strict=True):
            dtype, shape = tensor(text, sizes)
            if (
                isinstance(value, torch.Tensor)
                and shape is not None
                and (value.dtype, tuple(value.shape)) != (dtype, shape)
            ):
                got = f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
                return f"the output {name!r} is {got} for workload {workload.uuid}; its definition says {text}"
        return None


@dataclass(frozen=True)
class DefinitionRules(OriginalRules):
    """What the benchmarks' own tests ask of results: of each output a part of the elements (``required_matched_ratio``) within ``max_atol`` plus
    ``max_rtol`` of the reference's, and none further away than ``max_error_cap``. Not-a-number equals itself here."""

    definition: Definition | None = None

    def right(self, call: Call, result: Any, expected: Any) -> bool:
        allowed, pairs = self._allowed(call), zip(leaves(result), leaves(expected), strict=True)
        return all(
            all(_are_right(got, want, allowed))
            if isinstance(want, torch.Tensor)
            else not errors.exact_plain("", got, want).wrong
            for (_, got), (_, want) in pairs
        )

    def compare(self, call: Call | None, results: list[Any], expected: Any, truth: Any) -> Outcome:
        allowed, found = self._allowed(call), errors.Comparison()
        for (path, got), (_, want) in zip(leaves(results[0]), leaves(expected), strict=True):
            if isinstance(want, torch.Tensor):
                found.join(_compared(path, got.detach(), want.detach(), allowed))
            else:
                found.join(errors.exact_plain(path, got, want))
        return Outcome(found.complaints, found.mismatches, found.metrics(), found.outputs)

    def _allowed(self, call: Call | None) -> dict[str, float]:
        return _USUAL | ({} if call is None or self.definition is None else self.definition.tolerance(call))


def _are_right(got: torch.Tensor, want: torch.Tensor, allowed: dict[str, float]) -> tuple[bool, bool]:
    """Whether enough elements of an output are within the tolerance, and whether none is beyond the cap."""
    outside, none_beyond = 0, True
    for _, (g, w) in errors.stretches(got.reshape(-1), want.reshape(-1)):
        right, near, _ = _judged(g, w, allowed)
        outside += int(right.numel() - right.count_nonzero())
        none_beyond = none_beyond and bool(near.all())
    return outside <= (1 - allowed["required_matched_ratio"]) * got.numel(), none_beyond


def _compared(path: str, got: torch.Tensor, want: torch.Tensor, allowed: dict[str, float]) -> errors.Comparison:
    """An output's wrong elements: those outside of the tolerance if they are too many, else those beyond the cap."""
    found, output = errors.Comparison(compared=got.numel()), errors.Output(path, got, want)
    enough, _ = _are_right(got, want, allowed)
    for start, (g, w) in errors.stretches(got.reshape(-1), want.reshape(-1)):
        right, near, ratio = _judged(g, w, allowed)
        found.add(output, start, near if enough else right, g, w, ratio)
        found.measure((g.double() - w.double()).abs(), w.double(), ratio)
    return found


def _judged(
    got: torch.Tensor, want: torch.Tensor, allowed: dict[str, float]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Of each element whether it is within the tolerance, whether it is not beyond the cap, and its error over the tolerance."""
    got, want = got.double(), want.double()
    same = (got == want) | (got.isnan() & want.isnan())
    error, tolerance = (got - want).abs(), allowed["max_atol"] + allowed["max_rtol"] * want.abs()
    return same | (error <= tolerance), same | ~(error > allowed["max_error_cap"]), error / tolerance


def defined(
    axes: list[str],
    inputs: list[str],
    outputs: list[str],
    workloads: list[Workload],
    constraints: tuple[str, ...] = (),
    custom: str | None = None,
) -> Definition:
    """A definition as a task file has it: an axis is ``name`` (variable), ``name = size`` or ``name = expression``; an input or output
    ``name: dtype[axis, axis]``, or ``name: dtype`` for a scalar."""
    sizes: dict[str, int | str | None] = {}
    for axis in axes:
        name, _, size = (part.strip() for part in axis.partition("="))
        sizes[name] = int(size) if size.isdigit() else size or None
    return Definition(sizes, _described(inputs), _described(outputs), workloads, list(constraints), custom)


def _described(tensors: list[str]) -> dict[str, str]:
    parts = (each.partition(":") for each in tensors)
    return {name.strip(): text.strip() for name, _, text in parts}


def tensor(text: str, sizes: Axes) -> tuple[torch.dtype, tuple[int, ...] | None]:
    """Dtype and shape of what ``Definition.inputs`` describes; no shape for a scalar."""
    match = _TENSOR.fullmatch(text)
    dtype = getattr(torch, match[1], None) if match else None
    if match is None or not isinstance(dtype, torch.dtype):
        raise ValueError(f"{text!r} is no tensor such as float32[rows, 4]")
    if match[2] is None:
        return dtype, None
    axes = [axis.strip() for axis in match[2].split(",") if axis.strip()]
    unknown = [axis for axis in axes if not axis.isdigit() and axis not in sizes]
    if unknown:
        raise ValueError(f"{text!r} names {unknown[0]!r}, which is no axis")
    return dtype, tuple(int(axis) if axis.isdigit() else sizes[axis] for axis in axes)


def _recorded(
    workload: Workload, name: str, text: str, meant: tuple[torch.dtype, tuple[int, ...] | None]
) -> torch.Tensor:
    """A recorded input. Raises ValueError where the file has none of the definition's form."""
    path, key = workload.files[name]
    try:
        found = safetensor(path, key)
    except (OSError, KeyError, TypeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ValueError(
            f"the input {name!r} of workload {workload.uuid} cannot be read from {path}: {reason}"
        ) from None
    if (found.dtype, tuple(found.shape)) != meant:
        got = f"{str(found.dtype).removeprefix('torch.')}{list(found.shape)}"
        raise ValueError(f"recorded {name!r} is {got} for workload {workload.uuid}; its definition says {text}")
    return found


def safetensor(path: str, key: str) -> torch.Tensor:
    """A tensor of a safetensors file: eight bytes with the length of a header, the header in JSON (dtype, shape and the bytes behind it of
    each key), and the bytes. Raises OSError, KeyError, or ValueError for another file."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > _MOST_HEADER:
            raise ValueError("it is no safetensors file")
        header = json.loads(file.read(length))
        if key not in header:
            raise ValueError(f"it has no tensor {key!r}")
        said = header[key]
        dtype, (start, end) = _SAFE.get(said["dtype"]), said["data_offsets"]
        if dtype is None:
            raise ValueError(f"tensor {key!r} is {said['dtype']}")
        made = torch.empty(said["shape"], dtype=dtype)
        if end - start != made.numel() * dtype.itemsize:
            raise ValueError(f"tensor {key!r} has {end - start} bytes")
        if made.numel() == 0 or isinstance(made, FakeTensor):
            return made
        file.seek(8 + length + start)
        return torch.frombuffer(bytearray(file.read(end - start)), dtype=dtype).reshape(said["shape"])


def _tensor(make: Inputs, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    if dtype.is_floating_point:
        return make.floats(*shape, dtype=dtype)
    if dtype == torch.bool:
        return make.bools(*shape)
    below = _BELOW.get(dtype, _INTEGERS)
    return make.ints(*shape, low=-below, high=below, dtype=dtype)


def _scalar(drawn: random.Random, dtype: torch.dtype) -> Scalar:
    """Drawn apart from the tensors, whose values may not exist."""
    if dtype.is_floating_point:
        return drawn.gauss(0, 1)
    below = _BELOW.get(dtype, _INTEGERS)
    return drawn.random() < 0.5 if dtype == torch.bool else drawn.randrange(-below, below)


def _names(text: str) -> set[str]:
    return {node.id for node in ast.walk(_parsed(text)) if isinstance(node, ast.Name)}


def _is_expression(text: str) -> bool:
    return all(isinstance(node, _ALLOWED) for node in ast.walk(_parsed(text)))


def _value(text: str, sizes: Axes) -> Any:
    if not _is_expression(text):
        raise ValueError(f"{text!r} is no expression of axes")
    try:
        return eval(compile(_parsed(text), "<axis>", "eval"), {"__builtins__": {}}, dict(sizes))
    except ArithmeticError as error:
        raise ValueError(f"{text!r} has no value: {error}") from None


def _parsed(text: str) -> ast.Expression:
    try:
        return ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        raise ValueError(f"{text!r} is no expression of axes") from None
