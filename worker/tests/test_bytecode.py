"""Bytecode of an installation that has none is kept; a real interpreter, and a package in the place of torch."""

import os
import shutil
import subprocess
import sys

import pytest

import kbx

PROGRAM = """
import importlib.util, pathlib, sys
from kbx import bytecode
bytecode.states = lambda: [pathlib.Path({state!r})]
bytecode.keep()
import torch
sys.dont_write_bytecode = {later!r}
with bytecode.writing():
    import later
assert sys.dont_write_bytecode == {later!r}
print(sys.pycache_prefix, sys.dont_write_bytecode, pathlib.Path(importlib.util.cache_from_source(torch.__file__)).exists())
"""


@pytest.fixture
def start(tmp_path):
    """Imports torch in a process of its own; says where bytecode is kept, whether none is written, and whether it is there."""
    package = tmp_path / "packages" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package.parent / "later.py").write_text("")
    state = tmp_path / "state"
    paths = f"{package.parent}:{os.path.dirname(os.path.dirname(kbx.__file__))}"

    def start(later=True, **environment):
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": paths} | environment
        command = [sys.executable, "-c", PROGRAM.format(state=str(state), later=later)]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.split()

    start.state = state
    return start


def test_bytecode_that_may_not_be_written_beside_the_source_is_kept(start):
    folder = start.state / "bytecode"
    for _ in range(2):
        assert start(PYTHONDONTWRITEBYTECODE="1") == [str(folder), "True", "True"]
    assert len(list(folder.rglob("torch/__init__*.pyc"))) == 1
    assert len(list(folder.rglob("later*.pyc"))) == 1, "while it is told to write, for as long"


def test_an_installation_with_bytecode_is_left_alone(start):
    assert start()[0] == str(start.state / "bytecode"), "nothing is there yet"
    start.state.rename(start.state.with_name("other"))
    subprocess.run([sys.executable, "-m", "compileall", "-q", start.state.parent / "packages"], check=True)
    assert start(PYTHONDONTWRITEBYTECODE="1") == ["None", "True", "True"]
    assert not start.state.exists()


def test_own_modules_are_compiled_whatever_python_is_told(tmp_path):
    shutil.copytree(os.path.dirname(kbx.__file__), tmp_path / "kbx", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", "from kbx import bytecode; bytecode.keep()"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert list((tmp_path / "kbx/oracle/__pycache__").glob("server.*.pyc"))


def test_folder_writable_by_others_is_not_used(start):
    (start.state / "bytecode").mkdir(parents=True)
    (start.state / "bytecode").chmod(0o777)
    assert start(PYTHONDONTWRITEBYTECODE="1") == ["None", "True", "False"]
