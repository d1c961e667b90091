"""The messages of the protocol as dataclasses, in a module for each peer of the referee; ``docs/protocol.md`` lists them. Messages
of all trusted peers are here.

A request has an ``id``, which the reply repeats. ``None`` means absent. Times are seconds, sizes are bytes.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypedDict

Tree: TypeAlias = dict[str, Any]
"""The JSON form of a value, as ``kbx.tensors`` encodes it: whoever reads one from a runner must expect anything."""


class Message(Protocol):
    """A dataclass of these modules."""

    TYPE: ClassVar[str]


class Request(Message, Protocol):
    """What is answered with the same ``id``."""

    id: int


class CallTree(TypedDict):
    """The arguments of a call as value trees."""

    args: list[Tree]
    kwargs: dict[str, Tree]


class TracedCall(CallTree):
    """A call without values: its tensors have ``shape, stride, dtype`` and lie nowhere. ``timed``: whether it is one of a benchmark size."""

    timed: bool


class SlottedCall(CallTree):
    """A call to be timed. ``slot`` is the offset in arena ``out`` where its result goes."""

    slot: int


class _AnyModule(TypedDict):
    init: list[Tree]
    seed: int


class Differentiated(TypedDict):
    """What is differentiated of a module: so many ``results``, by the tensors at ``positions`` among its arguments and then by its parameters;
    ``names`` of the gradients."""

    results: int
    positions: list[int]
    names: list[str]


class Module(_AnyModule, total=False):
    """What a class that stands in for the reference is constructed with: value trees ``init`` of its constructor's arguments, ``seed``,
    which its weights come from, ``dtype``, what they are cast to, where they are, ``differentiates``, where it computes gradients
    when it is called, and ``backward``, where its gradients are the result: calls begin with those of its own results."""

    dtype: str
    differentiates: bool
    backward: Differentiated


class ProfiledCall(CallTree, total=False):
    """A call without values, with ``module`` where the entry is a class."""

    module: Module


class _AnyArena(TypedDict):
    name: str
    bytes: int


class ArenaDescription(_AnyArena, total=False):
    """An arena, on a GPU with ``handle``, a CUDA IPC handle in hexadecimal; on the CPU memfds come by socket."""

    handle: str


class _AnyDevice(TypedDict):
    kind: str
    name: str
    arch: str


class Device(_AnyDevice, total=False):
    """What an oracle computes on. ``kind`` is ``cpu`` or ``cuda``; what is not required here is that of a GPU."""

    uuid: str
    driver: str
    memory_bytes: int
    host_bytes: int


@dataclass
class Hello:
    """First frame of oracle and zygote, unasked."""

    TYPE: ClassVar[str] = "hello"
    protocol: int
    role: str
    """``oracle`` or ``zygote``."""
    pid: int
    versions: dict[str, str]
    """``python, torch, triton``, from an oracle ``worker``, a fingerprint of its own sources, and from a zygote ``nvcc, cxx,
    tilelang, nvidia-cutlass-dsl`` (each absent where it is not installed) and ``witness``: ``native``, or ``python`` and why."""
    device: Device | None = None
    """Oracle only."""
    data_address: str | None = None
    """Oracle on the CPU: the abstract Unix socket on which it hands arenas to runners."""
    lacks: str | None = None
    """Zygote: what this machine lacks to compile CUDA C++, as a sentence; absent where it can."""
    absent: list[str] | None = None
    """Zygote: packages in which candidates may write kernels (``tilelang, cutlass``) and that are not installed."""


@dataclass
class Failed:
    """The answer to a request of the trusted side that could not be served."""

    TYPE: ClassVar[str] = "failed"
    id: int
    reason: Literal["invalid_task", "unsupported", "memory", "internal"]
    """``invalid_task``: the task file is wrong; ``memory``: the device has too little now."""
    message: str
    file: str | None = None
    line: int | None = None
