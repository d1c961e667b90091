"""How the native half of the witness is built and kept."""

import concurrent.futures
import os
import time

import pytest
import torch

from kbx.runner import native, operations


@pytest.fixture
def builds(tmp_path, monkeypatch):
    """Libraries that were built, by a compiler that takes a moment, in a folder for this test."""
    made = []

    def build(compiler, target):
        made.append(target)
        time.sleep(0.1)
        target.write_text("library")

    monkeypatch.setattr(native, "_build", build)
    monkeypatch.setattr(native, "_folders", lambda: [tmp_path / "native"])
    monkeypatch.setenv("CXX", "sh")  # it is looked for, and not called
    return made


def test_concurrent_starts_build_once(builds, tmp_path, capsys):
    with concurrent.futures.ThreadPoolExecutor(4) as starts:
        found = set(starts.map(lambda _: native._find_or_build(), range(4)))
    assert len(builds) == len(found) == 1
    assert found.pop().read_text() == "library"
    assert capsys.readouterr().err == "notice: building the native witness, once: about 15 s\n"


def test_library_is_built_once(builds, capsys):
    assert native._find_or_build() == native._find_or_build()
    assert len(builds) == 1


def test_recently_used_libraries_are_kept(builds, tmp_path):
    folder = tmp_path / "native"
    folder.mkdir()
    for age in range(6):
        file = folder / f"watch-{age}.so"
        file.touch()
        os.utime(file, (1000 - age, 1000 - age))
    (folder / "watch-0.so.17").touch()  # of a build that was killed
    mine = native._find_or_build()
    assert {file.name for file in folder.iterdir()} == {mine.name, "watch-0.so", "watch-1.so", "lock"}


def test_eviction_is_by_last_use_not_age(builds, tmp_path):
    mine = native._find_or_build()
    os.utime(mine, (1, 1))
    native._find_or_build()
    assert mine.stat().st_mtime > 1


def test_failed_build_leaves_no_library(builds, monkeypatch):
    def fails(compiler, target):
        target.write_text("half")
        raise RuntimeError("error: no such header")

    monkeypatch.setattr(native, "_build", fails)
    with pytest.raises(RuntimeError, match="no such header"):
        native._find_or_build()
    monkeypatch.setattr(native, "_build", lambda compiler, target: target.write_text("whole"))
    assert native._find_or_build().read_text() == "whole"


def test_operations_are_noted_whether_watched_or_not(witness):
    x = torch.rand(100, 100)
    witness.ran()
    for _ in range(3):
        torch.sin(x).t()
    torch.matmul(x, x)
    assert {"sin", "mm"} <= computed(witness.ran())
    assert not computed(witness.ran())
    torch.cos(x)
    assert computed(witness.ran()) == {"cos"}


@pytest.fixture
def witness():
    native.prepare()
    if native.library is None:
        pytest.skip(f"without the native witness: {native.lack}")
    return native.library


def computed(names):
    return {operations.parsed(name, False).base for name in names}
