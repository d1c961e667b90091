"""Launches of a replay on a GPU: kernels that kbx has compiled, on memory that lies elsewhere than it did in the call."""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
import triton
from triton.compiler.compiler import CompiledKernel
from triton.tools.tensor_descriptor import TensorDescriptor

from kbx.executor import launching
from kbx.executor.replay import Held, Message, Unfit, given_to
from kbx.tensors import DTYPES

_MOST_IN_TABLE = 1 << 16
"""Bytes of a tensor that is looked through for addresses."""
_LEAST_ADDRESS = 1 << 32
_TRITON = {"fp": "float", "bf": "bfloat", "i": "int", "u": "uint"}


class Kernel(NamedTuple):
    """A compiled kernel, for a launch of any kind, and whether it is the candidate's own."""

    compiled: launching.Kernel | CompiledKernel
    own: bool


class Gpu:
    """The machine of replays on one GPU, with the kernels of one candidate."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._files: dict[int, Message] = {}
        self._kernels: dict[tuple[int, str], Kernel] = {}
        triton.set_allocator(lambda size, _, __: torch.empty(size, dtype=torch.int8, device=device))

    def add(self, number: int, files: Message) -> None:
        """Takes what ``kbx.executor.recorder`` has of a kernel."""
        self._files[number] = files

    def launch(self, message: Message, held: Held, seed: int) -> Iterable[int]:
        places = _Places(held, given_to(message, held))
        types, told = message["types"], iter(message["arguments"])
        arguments = [places.argument(kind, told) for kind in types]
        kernel = self._kernel(message["launch"], types).compiled
        stream = torch.cuda.current_stream(self.device).cuda_stream
        if isinstance(kernel, launching.Kernel):
            kernel.launch(message["grid"], stream, _packed(types, arguments))
        else:
            given = (stream, kernel.function, kernel.packed_metadata, None, None, None)
            kernel.run(*message["grid"], *given, *arguments)
        return ()

    def close(self) -> None:
        """No further launch is made, and none is running."""
        for kernel in self._kernels.values():
            if isinstance(kernel.compiled, launching.Kernel):
                kernel.compiled.unload()

    def is_own(self, message: Message) -> bool:
        return self._kernel(message["launch"], message["types"]).own

    def _kernel(self, number: int, types: Sequence[Any]) -> Kernel:
        key = number, repr(types)
        if key not in self._kernels:
            told = self._files[number]
            files = {name: base64.b64decode(content) for name, content in told["files"].items()}
            self._kernels[key] = Kernel(_loaded(files, types, told["hash"]), told["own"])
        return self._kernels[key]


def _packed(types: Sequence[Any], arguments: Sequence[Any]) -> list[bytes]:
    """Arguments as the device has them."""
    found = []
    for kind, value in zip(types, arguments, strict=True):
        if isinstance(kind, list):
            found += _packed(kind, value)
        elif kind != "constexpr":
            found.append(launching.packed(kind, value))
    return found


def _loaded(files: Mapping[str, bytes], types: Sequence[Any], key: str) -> launching.Kernel | CompiledKernel:
    if launching.is_plain(launching.metadata_of(files), types):
        return launching.Kernel(files)
    with tempfile.TemporaryDirectory(prefix="kbx-kernel-") as folder:
        group = {}
        for name, content in files.items():
            group[name] = os.path.join(folder, os.path.basename(name))
            with open(group[name], "wb") as file:
                file.write(content)
        signature = {f"argument {i}": kind for i, kind in enumerate(_tupled(types))}
        source = SimpleNamespace(fn=SimpleNamespace(arg_names=list(signature)), signature=signature, constants={})
        kernel = CompiledKernel(source, group, key)
        kernel._init_handles()
    return kernel


def _tupled(types: Any) -> Any:
    return tuple(map(_tupled, types)) if isinstance(types, list) else types


class _Places:
    """Where memory lies now that had other addresses in the call."""

    def __init__(self, held: Held, given: Sequence[int]) -> None:
        self._held = held
        for start in given:
            self._refuse_tables(held[start])

    def argument(self, kind: Any, told: Iterator[Any]) -> Any:
        """The argument of a parameter of this type, of the next that are told. Raises Unfit."""
        if isinstance(kind, list):
            return tuple(self.argument(each, told) for each in kind)
        if kind == "constexpr":
            return None
        value = next(told)
        match value:
            case {"float": text}:
                return float.fromhex(text)
            case {"descriptor": _}:
                return self._descriptor(kind, value)
            case int() if kind.startswith("*"):
                return self._moved(value)
            case int() if abs(value) >= _LEAST_ADDRESS and self._find(value) is not None:
                raise Unfit("an address that is given as a number")
        return value

    def _descriptor(self, kind: str, told: Message) -> TensorDescriptor:
        """``kind``: ``tensordesc<bf16[64, 64]>`` and what follows."""
        name, _, block = kind.removeprefix("tensordesc<").partition("[")
        dtype = DTYPES[_long(name)]
        block_shape = [int(size) for size in block.partition("]")[0].split(",")]
        span = 1 + sum((size - 1) * step for size, step in zip(told["shape"], told["strides"], strict=True))
        start, memory = self._holding(told["descriptor"])
        content = memory[told["descriptor"] - start :][: span * dtype.itemsize].view(dtype)
        base = content.as_strided(told["shape"], told["strides"])
        padding = {"padding": "nan"} if told["nan"] else {}
        rounding = {"round_f32_to_tf32": True} if told["tf32"] else {}
        return TensorDescriptor(base, told["shape"], told["strides"], block_shape, **padding, **rounding)

    def _moved(self, address: int) -> int:
        if not address:
            return 0
        start, memory = self._holding(address)
        return memory.data_ptr() + address - start

    def _holding(self, address: int) -> tuple[int, torch.Tensor]:
        if (start := self._find(address)) is None:
            raise Unfit("memory that nobody has made")
        return start, self._held[start]

    def _find(self, address: int) -> int | None:
        """The start of the memory that an address lies in, or at the end of."""
        if address in self._held:
            return address
        return next((s for s, memory in self._held.items() if s <= address <= s + len(memory)), None)

    def _refuse_tables(self, memory: torch.Tensor) -> None:
        """Addresses in memory would lead to where nothing is."""
        if not 0 < len(memory) <= _MOST_IN_TABLE or len(memory) % 8:
            return
        values = memory.view(torch.int64).unique().tolist()
        if any(value >= _LEAST_ADDRESS and self._find(value) is not None for value in values):
            raise Unfit("a table of addresses")


def _long(name: str) -> str:
    """Torch's name of a dtype of Triton's."""
    special = {"i1": "bool", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2"}
    if name in special:
        return special[name]
    letters = name.rstrip("0123456789")
    return _TRITON[letters] + name.removeprefix(letters)
