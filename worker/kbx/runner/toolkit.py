"""The CUDA toolkit of this machine, for candidates that bring CUDA C++."""

import contextlib
import os
import re
import shutil
import subprocess

_USUAL = "/usr/local/cuda"
_SECONDS = 20


def home() -> str | None:
    """Its folder, found where torch looks: ``CUDA_HOME``, ``nvcc`` on the PATH, /usr/local/cuda. None without an nvcc there."""
    found = os.environ.get("CUDA_HOME")
    if not found:
        program = shutil.which("nvcc")
        found = os.path.dirname(os.path.dirname(program)) if program else _USUAL
    return found if os.path.isfile(nvcc(found)) else None


def nvcc(folder: str) -> str:
    return os.path.join(folder, "bin", "nvcc")


def has_runtime(folder: str) -> bool:
    """Whether programs can be linked with CUDA's runtime there."""
    return any(os.path.exists(os.path.join(folder, place, "libcudart.so")) for place in ("lib64", "lib"))


def lacking(cuda: bool) -> str | None:
    """What C++, or with ``cuda`` CUDA C++, needs to be compiled and this machine lacks, as a sentence; None if it has all.

    Speaks of the machine as long as no candidate's code has run in this process.
    """
    import torch  # Late: what else is here does without it.

    if cuda:
        if torch.version.cuda is None:
            return f"inline CUDA C++ needs a PyTorch with CUDA, and this is {torch.__version__}"
        folder = home()
        if folder is None:
            return "inline CUDA C++ needs nvcc, which this machine lacks; install the CUDA toolkit or let CUDA_HOME name its folder"
        if not has_runtime(folder):
            return f"inline CUDA C++ needs libcudart.so, which the CUDA toolkit in {folder} lacks; install the complete toolkit"
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(compiler) is None:
        return f"inline C++ needs a compiler, and {compiler} is not on the PATH"
    if shutil.which("ninja") is None:
        return "inline C++ needs ninja, which is not on the PATH"
    return None


def versions() -> dict[str, str]:
    """``nvcc`` (13.0.88) and ``cxx``, the compiler of host code (12.2.0); absent where not installed."""
    folder = home()
    found = {
        "nvcc": folder and _told(r"\bV(\d[\d.]*)", nvcc(folder), "--version"),
        "cxx": _told(r"(\d[\d.]*)", "c++", "-dumpfullversion"),
    }
    return {name: version for name, version in found.items() if version}


def _told(pattern: str, *command: str) -> str | None:
    """The first match in what a program prints, or None."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS).stdout
        if match := re.search(pattern, told):
            return match[1]
    return None
