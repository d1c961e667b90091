"""Reserves a processor core for launching timed calls.

Processors of one machine differ: in a virtual machine with an H200, one chain of kernels took between 0.31 and 0.62 ms, depending on
which of 16 launched it. So each GPU has one, where the reference and candidates launch in turn and no other worker runs.
"""

import contextlib
import os
import pathlib
import re
from collections.abc import Iterable, Set
from typing import TypeVar

_Gpu = TypeVar("_Gpu")

_LEAST = 4
"""Processors for each GPU below which none is set aside: compiling needs them more."""

_ALLOWED = frozenset(os.sched_getaffinity(0))
_DRIVER, _BUSES = pathlib.Path("/proc/driver/nvidia/gpus"), pathlib.Path("/sys/bus/pci/devices")
_NVIDIA, _DISPLAY = "0x10de", "0x03"
"""PCI's numbers for the vendor, and for the class of display and 3D controllers."""


def keep_off() -> None:
    """Keeps this thread, and the threads it starts from now on, off the reserved processors of all GPUs."""
    if taken := set(_visible().values()):
        with contextlib.suppress(OSError):  # what is allowed may have changed
            os.sched_setaffinity(0, _ALLOWED - taken)


def keep_to(core: int) -> bool:
    """Keeps this thread, and those that it starts from now on, to one processor; False where it may not use that."""
    try:
        os.sched_setaffinity(0, {core})
    except OSError:
        return False
    return True


def of_gpu(uuid: str) -> int | None:
    """The processor of a GPU whose driver is in use; None where it has none."""
    return next((core for folder, core in _visible().items() if _is(uuid, folder)), None)


def _visible() -> dict[pathlib.Path, int]:
    """The processor of each GPU that the driver lists, by its folder there; empty where there are too few. A container has some of a
    machine's GPUs, and those beside it choose among the same processors: so each has its place among all on the buses."""
    with contextlib.suppress(OSError):
        folders = sorted(_DRIVER.iterdir())
        if len(_ALLOWED) >= _LEAST * len(folders):
            cores = assigned(_on_buses(), _ALLOWED)
            return {folder: cores[folder.name.lower()] for folder in folders if folder.name.lower() in cores}
    return {}


def _on_buses() -> list[tuple[str, set[int]]]:
    """The address of each GPU of the machine, and the processors near it."""
    found = []
    for device in sorted(_BUSES.iterdir()):
        if _text(device / "vendor") == _NVIDIA and _text(device / "class").startswith(_DISPLAY):
            found.append((device.name, processors(_text(device / "local_cpulist"))))
    return found


def assigned(gpus: Iterable[tuple[_Gpu, Set[int]]], allowed: Set[int]) -> dict[_Gpu, int]:
    """One of the ``allowed`` processors for each of ``gpus``, near it if possible: the last, since devices interrupt the first. With more
    GPUs than processors some share one.

    ``gpus`` are pairs of something that stands for a GPU and the set of processors that are near.
    """
    cores: dict[_Gpu, int] = {}
    for gpu, near in gpus:
        left = allowed - set(cores.values()) or allowed
        cores[gpu] = max(left & near or left)
    return cores


def _is(uuid: str, folder: pathlib.Path) -> bool:
    """Whether a folder of the driver's is about the GPU. It says question marks until somebody uses that."""
    return re.search(rf"GPU UUID:\s*{re.escape(uuid)}\s*$", _text(folder / "information"), re.MULTILINE) is not None


def _text(file: pathlib.Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def processors(text: str) -> set[int]:
    """A set of numbers from a list as Linux writes it: ``0-3,8``."""
    ranges = (part.partition("-") for part in text.strip().split(",") if part)
    return {n for first, _, last in ranges for n in range(int(first), int(last or first) + 1)}
