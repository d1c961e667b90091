"""Messages between referee and zygote."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypedDict

from kbx.messages import Failed, Hello, Message


class Protection(TypedDict):
    """A protection around a runner, and whether it holds on this machine: what ``kbx doctor`` prints."""

    name: str
    active: bool
    detail: str


@dataclass
class Spawn:
    """Fork a sandboxed runner that talks on channel ``runner``."""

    TYPE: ClassVar[str] = "spawn"
    id: int
    runner: int
    device: str
    """``cpu`` or ``cuda``."""
    device_index: int = 0
    device_uuid: str | None = None
    """The GPU's name as the oracle sees it; the runner's ``/dev`` then has no other GPU."""
    arch: str = "sm_90"
    """What launches are compiled for when there is no GPU."""
    data_address: str | None = None
    uid: int | None = None
    """User id the runner drops to when the zygote is root."""
    memory_bytes: int = 8 << 30
    cpu_seconds: int = 600
    processes: int = 256
    file_bytes: int = 512 << 20
    timed: bool = False
    """Whether its calls will be timed: it has a clock, and nobody asks for records of its calls."""
    concurrent: bool = False
    """Whether kernels of several streams run side by side in its CUDA context, as in any process. Otherwise that has one hardware queue, and is
    created and destroyed in half the time."""
    loopback: bool = False
    """Whether it has a loopback network in its own namespace, by which a profiler talks to its program. Refused if the runner has no
    such namespace, or sees the machine's files."""
    shapes: bool = False
    """Whether it will run many of PyTorch's operations on shapes alone: what most of these need is then loaded beforehand, once."""


@dataclass
class Spawned:
    """The runner is forked, sandboxed and listening."""

    TYPE: ClassVar[str] = "spawned"
    id: int
    runner: int
    seconds: float
    protections: list[Protection]


@dataclass
class Kill:
    """End a runner and every process it started; answered by ``exited``."""

    TYPE: ClassVar[str] = "kill"
    runner: int


@dataclass
class Introduce:
    """On a GPU: what keeps a runner's records answers to the oracle at ``data_address`` from now on."""

    TYPE: ClassVar[str] = "introduce"
    runner: int
    data_address: str


@dataclass
class Wait:
    """How long has a runner waited for a processor?"""

    TYPE: ClassVar[str] = "wait"
    id: int
    runner: int


@dataclass
class Waited:
    """Since it was spawned; of its threads, the one that waited longest."""

    TYPE: ClassVar[str] = "waited"
    id: int
    seconds: float


@dataclass
class Exited:
    """A runner's tree is gone."""

    TYPE: ClassVar[str] = "exited"
    runner: int
    reason: Literal["exit", "signal", "memory", "protocol", "killed"]
    code: int | None = None
    signal: int | None = None
    peak_bytes: int | None = None
    detail: str | None = None
    output: str | None = None
    """The end of what the candidate printed on stdout and stderr (at most 8 KiB)."""


REQUESTS: tuple[type[Message], ...] = (Spawn, Kill, Introduce, Wait)
ANSWERS: tuple[type[Message], ...] = (Hello, Failed, Spawned, Waited, Exited)
