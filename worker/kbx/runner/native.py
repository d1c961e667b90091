"""The native half of the witness, ``kbx/native``: built once for each PyTorch, kept, and loaded before any candidate.

Without a C++ compiler there is none: then Python alone watches, which a candidate can evade.
"""

import contextlib
import fcntl
import hashlib
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import torch

from kbx import bytecode
from kbx.tensors import FILLERS

_FOLDER = Path(__file__).parent.parent / "native"
_SOURCES = [_FOLDER / name for name in ("driver.h", "driver.cpp", "watch.cpp")]
_FLAGS = ("-std=c++20", "-O1", "-shared", "-fPIC", "-w")
_SECONDS = 300
_KEPT = 3
"""Libraries kept: of as many interpreters that take turns."""

library = None
"""The loaded library; None without one."""
lack = "not prepared"
"""Why there is none."""
_guards = False

filler = FILLERS[0]
"""What memory of tensors on the host holds in this call that nobody has written."""


def prepare():
    """Loads the library, building it if need be, and wraps PyTorch's kernels; for the process that runners are forked from."""
    global library, lack
    if library is not None:
        return
    try:
        library = _load(_find_or_build())
        library.install()
        library.watch_registration(torch._C._DispatchModule, os.path.dirname(torch.__file__) + os.sep)
    except (OSError, ImportError, subprocess.SubprocessError, RuntimeError) as error:
        library, lack = None, str(error)


def versions():
    """``witness``: what a candidate's operations are seen by, ``native``, or ``python`` and why; ``cupti``: the version of what its
    launches and copies on a GPU are seen by, where there is one.
    """
    if library is None:
        return {"witness": f"python: {lack}"}
    cupti = library.driver_version()
    return {"witness": "native"} | ({"cupti": str(cupti)} if cupti else {})


def guard(memory_bytes, descriptor=None):
    """Has what touches tensors' memory on the host reported, in what is allocated from now on, which is at most so many bytes, and in
    what ``map`` maps. Tensors lie in the memory of ``descriptor``, if there is one. Where that begins, None if it cannot.
    """
    global _guards
    reserved = None if library is None else library.reserve(memory_bytes, -1 if descriptor is None else descriptor)
    _guards = reserved is not None
    return reserved and reserved[0]


def fill(turn):
    """Has empty tensors on the host filled with another byte than in the turn before."""
    global filler
    filler = FILLERS[turn % len(FILLERS)]
    if _guards:
        library.fill(filler)


def watches_driver():
    """Whether launches and copies are seen where they reach the driver; for a process that has a context on a GPU. Raises RuntimeError
    if they cannot be, although there is CUPTI: a debugger or profiler may have it.
    """
    if library is None or not library.driver_version():
        return False
    try:
        library.watch_driver(False)
    except RuntimeError as error:
        raise RuntimeError(
            f"launches cannot be watched ({error}); end the debugger or profiler that has CUPTI"
        ) from None
    return True


def map(number, descriptor, length):
    """The address of ``length`` bytes of a descriptor, mapped for the life of this process as guarded memory number 1 to 15."""
    return library.map(number, descriptor, length)


def guards():
    """Whether what touches tensors' memory on the host is reported."""
    return _guards


def _find_or_build():
    compiler = os.environ.get("CXX", "c++")
    key = hashlib.sha256(b"".join(source.read_bytes() for source in _SOURCES))
    key.update(repr((torch.__version__, sys.version, _FLAGS)).encode())
    name = f"watch-{key.hexdigest()[:12]}.so"
    for folder in _folders():
        if (folder / name).exists():
            return _used(folder / name)
    if shutil.which(compiler) is None:
        raise OSError(f"{compiler} is not on the PATH")
    for folder in _folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return _built_once(compiler, folder / name)
        except PermissionError:
            continue
    raise OSError("no folder to keep it in can be written")


def _built_once(compiler, target):
    """Builds the library unless another process does so first: it waits for that one."""
    with open(target.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            print("notice: building the native witness, once: about 15 s", file=sys.stderr, flush=True)
            draft = target.with_name(f"{target.name}.{os.getpid()}")
            _build(compiler, draft)
            draft.replace(target)
            _remove_unused(target.parent)
    return target


def _used(library):
    """The library, now the last to be removed."""
    with contextlib.suppress(OSError):  # somebody else's folder
        os.utime(library)
    return library


def _remove_unused(folder):
    """Removes what killed builds have left, and all libraries but those used last. The lock is held."""
    newest = sorted(folder.glob("watch-*.so"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in (*folder.glob("watch-*.so.*"), *newest[_KEPT:]):
        file.unlink(missing_ok=True)


def _folders():
    return [state / "native" for state in bytecode.states()]


def _build(compiler, target):
    root = Path(torch.__file__).parent
    command = [compiler, *_FLAGS, f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"]
    command += [f"-I{root / 'include'}", f"-I{sysconfig.get_paths()['include']}"]
    command += [*(str(source) for source in _SOURCES if source.suffix == ".cpp"), "-o", str(target)]
    command += [f"-L{root / 'lib'}", "-lc10", "-ltorch_cpu", "-ltorch_python", "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise RuntimeError((errors or done.stderr.splitlines() or ["the compiler failed"])[0][:300])


def _load(path):
    loader = importlib.machinery.ExtensionFileLoader("watch", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("watch", loader))
    loader.exec_module(module)
    return module
