"""The processor that launches what is timed.

Processors of one machine differ: in a virtual machine with an H200, one chain of kernels took between 0.31 and 0.62 ms, depending on
which of 16 launched it. So each GPU has one, where the reference and candidates launch in turn and no other worker runs.
"""

import contextlib
import os
import pathlib
import re

_LEAST = 4
"""Processors for each GPU below which none is set aside: compiling needs them more."""

_ALLOWED = frozenset(os.sched_getaffinity(0))
_DRIVER, _BUSES = pathlib.Path("/proc/driver/nvidia/gpus"), pathlib.Path("/sys/bus/pci/devices")


def keep_off():
    """Keeps this process, and those that it starts, off the processors of all GPUs."""
    if taken := set(assigned(_gpus(_DRIVER, _BUSES), _ALLOWED).values()):
        os.sched_setaffinity(0, _ALLOWED - taken)


def keep_to(core):
    """Keeps this thread, and those that it starts, to one processor."""
    os.sched_setaffinity(0, {core})


def of_gpu(uuid):
    """The processor of a GPU whose driver is in use; None where it has none."""
    folders = assigned(_gpus(_DRIVER, _BUSES), _ALLOWED)
    return next((core for folder, core in folders.items() if _is(uuid, folder)), None)


def assigned(gpus, allowed):
    """One of the ``allowed`` processors for each of ``gpus``, near it if possible: the last, since devices interrupt the first.

    ``gpus`` are pairs of something that stands for a GPU and the set of processors that are near. Empty where there are too few.
    """
    if len(allowed) < _LEAST * len(gpus):
        return {}
    cores = {}
    for gpu, near in gpus:
        left = allowed - set(cores.values())
        cores[gpu] = max(left & near or left)
    return cores


def _gpus(driver, buses):
    """A folder of the driver's for each GPU, in the order of their buses, with the processors near it."""
    with contextlib.suppress(OSError):
        return [(folder, _near(buses / folder.name.lower() / "local_cpulist")) for folder in sorted(driver.iterdir())]
    return []


def _near(file):
    try:
        return processors(file.read_text())
    except (OSError, ValueError):
        return set()


def _is(uuid, folder):
    """Whether a folder of the driver's is about the GPU. It says question marks until somebody uses that."""
    with contextlib.suppress(OSError):
        return (
            re.search(rf"GPU UUID:\s*{re.escape(uuid)}\s*$", (folder / "information").read_text(), re.MULTILINE)
            is not None
        )
    return False


def processors(text):
    """A set of numbers from a list as Linux writes it: ``0-3,8``."""
    ranges = (part.partition("-") for part in text.strip().split(",") if part)
    return {n for first, _, last in ranges for n in range(int(first), int(last or first) + 1)}
