"""Does again what a call did, on memory of its own and maybe other values, where nothing of the candidate is but its compiled kernels.

What the runner says of the call (see ``kbx.runner.trace``) is a claim that proves itself: a result that was computed by anything else than
its operations and launches is missing here. Memory has the addresses that it had in the call, so that launches are made as they were.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple, Protocol, TypeAlias

import torch

from kbx.runner import operations
from kbx.runner.ledger import Ledger
from kbx.runner.storages import tensors_in
from kbx.tensors import DTYPES
from kbx.ttir.memory import Memory, Region

Message: TypeAlias = dict[str, Any]
Held: TypeAlias = dict[int, torch.Tensor]
"""Memory by the address that it had in the call: flat tensors of bytes."""


class Machine(Protocol):
    """Where a replay is made."""

    @property
    def device(self) -> torch.device: ...

    def launch(self, message: Message, held: Held, seed: int) -> Iterable[int]:
        """Makes the launch of a runner's message on this memory; which of it the kernel has reached beyond what it was given. Raises
        Unfit for what cannot be launched."""

    def is_own(self, message: Message) -> bool:
        """Whether the kernel is the candidate's, and of no installed package."""


class Executed(NamedTuple):
    """The machine that executes a kernel's IR: ``run(message, memory, seed)``; ``own(number)`` says whose it is."""

    run: Callable[[Message, Memory, int], None]
    own: Callable[[int], bool]
    device: torch.device = torch.device("cpu")

    def launch(self, message: Message, held: Held, seed: int) -> Iterable[int]:
        def regions(starts: Iterable[int]) -> list[Region]:
            return [Region(start, held[start].numpy(), filler=_FILLER) for start in starts]

        memory = Memory(regions(given_to(message, held)), lambda: regions(held))
        self.run(message, memory, seed)
        return memory.reached

    def is_own(self, message: Message) -> bool:
        return self.own(message["launch"])


def given_to(message: Message, held: Held) -> list[int]:
    """Addresses of the memory that a launch is given."""
    return [start for start in dict.fromkeys(start for start, _ in message["regions"]) if start in held]


_EMPTY = frozenset(["empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"])
_READS = frozenset(["_local_scalar_dense", "is_nonzero", "equal"])
_SETS = frozenset(["set_", "from_file"])
"""What is not done here: it leads to other memory than that of the tensor it is given."""
_MOST_BYTES = 4 << 30
_FILLER = 0xA5
"""What memory holds that nobody has written to."""
_HOST = torch.device("cpu")


class Unfit(Exception):
    """The record cannot be followed on these values; says why."""


class Given(NamedTuple):
    """An argument of a call: a tensor in the memory at an address, so many bytes behind its start."""

    at: int
    offset: int
    shape: list[int]
    stride: list[int]
    dtype: str


class Record(NamedTuple):
    """What a runner says of a call."""

    message: Message
    launches: list[Message]
    older: list[tuple[int, torch.Tensor]]
    """Memory that is older than the call, by address, and the bytes that it held."""
    lent: list[int]
    """Addresses of the arguments."""


class Records:
    """Those of the last two calls, None of one that has not ended."""

    def __init__(self) -> None:
        self._kept: list[Record | None] = []
        self._launches: list[Message] = []
        self._older: list[tuple[int, torch.Tensor]] = []

    def begin(self) -> None:
        """A call begins."""
        self._kept = [*self._kept[-1:], None]
        self._launches, self._older = [], []

    def launched(self, message: Message) -> None:
        """The call has made this launch."""
        self._launches.append(message)

    def keep(self, start: int, memory: torch.Tensor) -> None:
        """The call uses memory that is older, which holds these bytes now; ``memory`` is kept."""
        self._older.append((start, memory))

    def add(self, message: Message, lent: list[int]) -> None:
        """The call is over, and was as the runner says; ``lent`` are the addresses of its arguments."""
        if self._kept:
            self._kept[-1] = Record(message, self._launches, self._older, sorted(lent))

    def find(self, back: int, lent: Iterable[int]) -> Record:
        """The record of the last call (``back`` 0), or of that before (1), whose arguments must have been at the addresses ``lent``. Raises Unfit."""
        if not self._kept or self._kept[-1] is None:
            raise Unfit("the call is not recorded")
        record = self._kept[-1 - back] if back < len(self._kept) else None
        if record is None or record.lent != sorted(lent):
            raise Elsewhere("the call before is not recorded, or was lent other memory")
        if record.message["gap"]:
            raise Unfit(str(record.message["gap"])[:200])
        return record


class Elsewhere(Unfit):
    """There is no record of a call whose arguments lay there."""


class Replay:
    """One replay of a record on the arguments ``given``, whose memory holds what is ``lent``; ``asked``: the operations of the reference.

    ``reads`` counts what the call handed to Python, ``numbers`` those of them that an argument of one element held or that
    were computed from such ones alone, and ``account`` says who computed the result, as ``Ledger.end`` does."""

    def __init__(
        self,
        record: Record,
        lent: Mapping[int, torch.Tensor],
        given: Sequence[Given],
        asked: frozenset[str],
        seed: int,
        machine: Machine,
    ) -> None:
        self._record, self._seed, self._machine = record, seed, machine
        self._left, self._contents = _MOST_BYTES, lent
        self._memory: Held = {}
        self._given = given
        self._seen: dict[int, torch.Tensor] = {}
        """By address, the last tensor of the memory there that an operation was given or gave."""
        self._ledger = Ledger(asked, None)
        self._generator: torch.Generator | None = None
        self._numbers = {each.at for each in given if math.prod(each.shape) == 1}
        self.reads, self.numbers, self.steps = 0, 0, len(record.message["record"])
        self._scalars: list[str] = []
        """Fractions that were handed to Python."""
        self.account: Message = {}

    def run(self) -> None:
        """Does all of it. Raises Unfit."""
        self._take(sum(map(len, self._contents.values())))
        self._memory.update((at, content.clone()) for at, content in self._contents.items())
        self._ledger.begin([self._argument(each) for each in self._given])
        launches, older = iter(self._record.launches), iter(self._record.older)
        for step in self._record.message["record"]:
            match step:
                case {"launch": _}:
                    self._launch(next(launches))
                case {"older": _, "device": device}:
                    at, content = next(older)
                    self._memory[at] = content.to(self._on(device), copy=True)
                    self._seen.pop(at, None)
                case {"operation": name, "args": args, "kwargs": kwargs, "made": made}:
                    self._generator = self._drawing(step.get("draws"))
                    self._operate(name, args, kwargs, made)
                case _:
                    raise Unfit("an unknown step")
        self.account = self._ledger.end(self.results() if self._record.message["results"] else None)

    @property
    def older_bytes(self) -> int:
        """Of memory that is older than the call and holds more than one value."""
        return sum(len(content) for _, content in self._record.older if bool((content != content[:1]).any()))

    def counts(self) -> Message:
        """What is told of it beside results and arguments: ``reads, numbers, steps, older, account, scalars``."""
        counted = {"reads": self.reads, "numbers": self.numbers, "steps": self.steps, "older": self.older_bytes}
        return counted | {"account": self.account, "scalars": self._scalars}

    def results(self) -> list[torch.Tensor]:
        """The tensors of the result."""
        return [self._tensor(each).contiguous() for each in self._record.message["results"]]

    def arguments(self) -> list[torch.Tensor]:
        """The bytes of the arguments as they are now, in the order in which they were lent."""
        return [self._memory[at] for at in self._contents]

    def _argument(self, given: Given) -> torch.Tensor:
        size = DTYPES[given.dtype].itemsize
        place = {
            "at": given.at,
            "offset": given.offset // size,
            "shape": given.shape,
            "stride": given.stride,
            "dtype": given.dtype,
            "device": self._machine.device.type,
        }
        return self._tensor(place)

    def _launch(self, message: Message) -> None:
        given = [self._seen.get(start, self._memory[start]) for start in given_to(message, self._memory)]
        records = self._ledger.reach(given)
        self._ledger.remember_computed(given)
        reached = self._machine.launch(message, self._memory, self._seed)
        records += self._ledger.reach([self._memory[at] for at in reached])
        self._ledger.look_for_a_copy(given)
        self._ledger.launch(self._machine.is_own(message), records, lambda: ("a kernel of an installed package", 0))

    def _on(self, device: str) -> torch.device:
        """Where memory of the call lies here that lay on a ``device`` of this type."""
        return _HOST if device == "cpu" else self._machine.device

    def _operate(self, name: str, args: list[Any], kwargs: Message, made: list[tuple[Message, bool]]) -> None:
        space, base, overload = [*str(name).split("."), "default"][:3]
        if space != "aten" or base in _SETS:
            raise Unfit(f"the operation {space}.{base}")
        function = getattr(getattr(torch.ops.aten, base), overload)
        given, named = [self._value(each) for each in args], {name: self._value(each) for name, each in kwargs.items()}
        inputs, written = list(tensors_in([given, named])), operations.written(function, given, named)
        are_numbers = self._are_numbers(inputs)
        if base in _EMPTY:
            results: list[torch.Tensor] = []
        elif base in _READS:
            self.reads, self.numbers = self.reads + 1, self.numbers + are_numbers
            if base == "_local_scalar_dense" and inputs[0].is_floating_point():
                self._scalars.append(float(inputs[0]).hex())
            results, made = [], []
        elif base == "resize_":
            self._resize(made[0][0])
            return
        else:
            results = self._done(function, given, named)
            if len(results) != len(made):
                raise Unfit(f"{base} has another number of results")
        for tensor, (described, is_fresh) in zip_longest(results, made):
            if is_fresh:
                self._put(tensor, described, base)
        outputs = [self._tensor(described) for described, _ in made]
        if are_numbers and all(each.numel() == 1 for each in outputs):
            self._numbers.update(described["at"] for described, _ in made)
        number = any(type(each) is float for each in (*given, *named.values()))
        self._ledger.operation(operations.of(function), inputs, written, outputs, number, lambda: (f"torch.{base}", 0))

    def _drawing(self, told: Message | None) -> torch.Generator | None:
        """The generator that an operation draws from, which gives what it gave in the call."""
        if told is None:
            return None
        device = self._on(told["device"])
        generator = torch.default_generator if device.type == "cpu" else torch.cuda.default_generators[device.index]
        generator.set_state(torch.frombuffer(bytearray.fromhex(told["state"]), dtype=torch.uint8))
        return generator

    def _are_numbers(self, tensors: list[torch.Tensor]) -> bool:
        starts = {self._memory[at].data_ptr() for at in self._numbers if at in self._memory}
        return bool(tensors) and all(each.untyped_storage().data_ptr() in starts for each in tensors)

    @staticmethod
    def _done(function: Any, given: list[Any], named: Message) -> list[torch.Tensor]:
        try:
            result = function(*given, **named)
        except Exception as error:
            raise Unfit(f"{function} cannot be done: {error}") from error
        return [t for t in (result if isinstance(result, (list, tuple)) else [result]) if isinstance(t, torch.Tensor)]

    def _resize(self, described: Message) -> None:
        before = self._memory.get(described["at"])
        if before is None or len(before) < described["bytes"]:
            self._make(described)

    def _put(self, tensor: torch.Tensor | None, described: Message, base: str) -> None:
        self._make(described)
        if tensor is None:
            return
        if list(tensor.shape) != described["shape"]:
            raise Unfit(f"{base} has a result of another shape")
        self._tensor(described).copy_(tensor)

    def _make(self, described: Message) -> None:
        length = int(described["bytes"])
        self._take(length)
        self._memory[described["at"]] = torch.full(
            (length,), _FILLER, dtype=torch.uint8, device=self._on(described["device"])
        )
        self._seen.pop(described["at"], None)
        self._numbers.discard(described["at"])

    def _take(self, length: int) -> None:
        """So many bytes of memory are about to be made. The limit is one of kbx's, so that no verdict depends on who else is on the device."""
        self._left -= length
        if self._left < 0:
            raise Unfit(f"more than {_MOST_BYTES >> 30} GiB")

    def _tensor(self, described: Message) -> torch.Tensor:
        dtype, memory = DTYPES[described["dtype"]], self._memory.get(described["at"])
        if not math.prod(described["shape"]):
            return torch.empty(described["shape"], dtype=dtype, device=self._on(described["device"]))
        if memory is None:
            raise Unfit("memory that nobody has made")
        whole = memory[: len(memory) // dtype.itemsize * dtype.itemsize].view(dtype)
        self._seen[described["at"]] = made = whole.as_strided(
            described["shape"], described["stride"], described["offset"]
        )
        return made

    def _value(self, told: Any) -> Any:
        match told:
            case {"tensor": described}:
                return self._tensor(described)
            case {"float": text}:
                return float.fromhex(text)
            case {"complex": [real, imaginary]}:
                return complex(float.fromhex(real), float.fromhex(imaginary))
            case {"torch": name}:
                return getattr(torch, name)
            case {"device": device}:
                return self._on(device)
            case {"generator": _}:
                return self._generator
            case list():
                return [self._value(each) for each in told]
        return told
