"""The messages of the protocol as dataclasses, in a module for each peer of the referee; ``docs/protocol.md`` lists them. Messages
of all trusted peers are here.

A request has an ``id``, which the reply repeats. ``None`` means absent. Times are seconds, sizes are bytes.
"""

from dataclasses import dataclass
from typing import ClassVar


@dataclass
class Hello:
    """First frame of oracle and zygote, unasked."""

    TYPE: ClassVar[str] = "hello"
    protocol: int
    role: str
    """``oracle`` or ``zygote``."""
    pid: int
    versions: dict
    """``python, torch, triton``, from an oracle ``worker``, a fingerprint of its own sources, and from a zygote ``nvcc, cxx,
    tilelang, nvidia-cutlass-dsl`` (each absent where it is not installed) and ``witness``: ``native``, or ``python`` and why."""
    device: dict | None = None
    """Oracle only: ``kind`` (cpu, cuda), ``name``, ``arch``, and on a GPU ``uuid, driver, memory_bytes, host_bytes``."""
    data_address: str | None = None
    """Oracle on the CPU: the abstract Unix socket on which it hands arenas to runners."""
    lacks: str | None = None
    """Zygote: what this machine lacks to compile CUDA C++, as a sentence; absent where it can."""
    absent: list | None = None
    """Zygote: packages in which candidates may write kernels (``tilelang, cutlass``) and that are not installed."""


@dataclass
class Failed:
    """The answer to a request of the trusted side that could not be served."""

    TYPE: ClassVar[str] = "failed"
    id: int
    reason: str
    """``invalid_task`` (the task file is wrong), ``unsupported``, ``memory`` (the device has too little now) or ``internal``."""
    message: str
    file: str | None = None
    line: int | None = None
