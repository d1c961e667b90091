"""Where compiled bytecode of Python's packages is kept if their installation has none.

Containers often bring packages as sources alone and tell Python not to write (``PYTHONDONTWRITEBYTECODE``). Each process then
compiles all of torch anew: five seconds, where reading what is compiled takes one and a half.
"""

import compileall
import contextlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path


def keep() -> None:
    """Has this process, which is to import torch, read and write bytecode in a folder of kbx's where torch has none; and compiles kbx's own
    modules that have changed, which takes a quarter of a second once, and else each time.

    Trusted processes load what lies there: the folder belongs to them, and only before a candidate's or a task's code is loaded
    is anything written. Where no such folder can be had, all stays as it is.
    """
    _keep_where_torch_has_none()
    compileall.compile_dir(str(Path(__file__).parent), quiet=2)


def _keep_where_torch_has_none() -> None:
    torch = importlib.util.find_spec("torch")
    if torch is None or torch.origin is None or os.path.exists(importlib.util.cache_from_source(torch.origin)):
        return
    for folder in _folders():
        if _is_ours(folder):
            sys.pycache_prefix = str(folder)
            sys.dont_write_bytecode = False
            return


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """Bytecode of what is imported meanwhile is kept, too, where ``keep`` found a folder."""
    before = sys.dont_write_bytecode
    if sys.pycache_prefix in [str(folder) for folder in _folders()]:
        sys.dont_write_bytecode = False
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def states() -> list[Path]:
    """Where kbx keeps what it makes, best first: beside itself, else with the user's state; as ``Home.stateFolders`` in the JVM."""
    return [
        Path(__file__).parents[2] / ".kbx",
        Path(os.environ.get("HOME", "/nonexistent")) / ".local" / "state" / "kbx",
    ]


def _folders() -> list[Path]:
    return [state / "bytecode" for state in states()]


def _is_ours(folder: Path) -> bool:
    """Whether this user alone may write to the folder, which is made if need be."""
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        state = folder.stat()
    except OSError:
        return False
    return state.st_uid == os.geteuid() and not state.st_mode & 0o022
