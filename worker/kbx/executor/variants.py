"""Spares machine code that nothing would run.

Triton compiles a kernel anew for every dtype and constexpr; and again for integers that are 1, and for pointers and integers that are
multiples of 16, which only helps it to make faster code. Where kernels are executed as Triton IR, machine code shows no more than that a
kernel compiles and what it takes of a device, and making it is most of the work. One variant shows that for all that differ only so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from triton.compiler.compiler import ASTSource
from triton.language import core

Message: TypeAlias = "dict[str, Any]"

_SHARED_BYTES = 96 << 10
"""Of shared memory a block can have so much on every device, compute capability 8.6 and later."""
_STAGES = 3
"""Iterations whose loads are in flight, unless an option says how many."""
_PLAIN = (bool, int, float, str, type(None), core.dtype)


class Variants:
    """Those that one candidate has had compiled to machine code, one of each kind."""

    def __init__(self) -> None:
        self._files: dict[str, dict[str, bytes]] = {}

    def like(self, kind: str | None) -> dict[str, bytes] | None:
        """The files of a variant that stands for this kind."""
        return None if kind is None else self._files.get(kind)

    def add(self, kind: str | None, files: dict[str, bytes], options: Mapping[str, object]) -> None:
        """Another variant of its kind might have its loads pipelined: only what would fit then stands for others."""
        if kind is None:
            return
        metadata = json.loads(next(content for name, content in files.items() if name.endswith(".json")))
        ir = next(content for name, content in files.items() if name.endswith(".ttir"))
        stages = options.get("num_stages", _STAGES)
        if isinstance(stages, int) and metadata["shared"] * stages <= _SHARED_BYTES and b"tt.num_stages" not in ir:
            self._files[kind] = files


def kind_of(kernel: ASTSource, description: Message, options: Mapping[str, object]) -> str | None:
    """Equal for variants of one kernel with the same dtypes, constexprs and options; None for one that stands for itself alone."""
    declared = [parameter.is_constexpr for parameter in kernel.fn.params]
    types, constants = dict(kernel.signature), []
    for path, value in kernel.constants.items():
        if len(path) == 1 and not declared[path[0]] and type(value) is int and value == 1:
            types[kernel.fn.arg_names[path[0]]] = "i32"
        elif type(value) in _PLAIN:
            constants.append([path, type(value).__name__, repr(value)])
        else:
            return None
    if any(name != "tt.divisibility" for hints in kernel.attrs.values() for name, _ in hints):
        return None
    functions = description["objects"][: description["signature"]], description["files"], description["name"]
    return hashlib.sha256(json.dumps([functions, types, constants, dict(options)]).encode()).hexdigest()
