"""Which processor launches what is timed."""

import os

import pytest

from kbx import cores

ALL = frozenset(range(16))


@pytest.mark.parametrize(
    ("text", "expected"), [("0-3,8\n", {0, 1, 2, 3, 8}), ("7", {7}), ("", set()), ("0-1,4-5", {0, 1, 4, 5})]
)
def test_lists_of_processors_are_read(text, expected):
    assert cores.processors(text) == expected


def test_each_gpu_has_a_processor_of_its_own():
    near = set(ALL)
    assert cores.assigned([("a", near), ("b", near)], ALL) == {"a": 15, "b": 14}


def test_a_processor_near_the_gpu_is_preferred():
    assert cores.assigned([("a", {0, 1, 2}), ("b", {2, 3}), ("c", set())], ALL) == {"a": 2, "b": 3, "c": 15}


def test_only_allowed_processors_are_given():
    assert cores.assigned([("a", set(range(16)))], frozenset({1, 3, 4, 6})) == {"a": 6}


def test_few_processors_are_left_to_compiling():
    assert cores.assigned([("a", set(ALL)), ("b", set(ALL))], frozenset(range(7))) == {}
    assert cores.assigned([], ALL) == {}


@pytest.fixture
def gpus(tmp_path, monkeypatch):
    """Two GPUs; one has never been used, and it is not known what is near the other."""
    driver, buses = tmp_path / "gpus", tmp_path / "pci"
    monkeypatch.setattr(cores, "_DRIVER", driver)
    monkeypatch.setattr(cores, "_BUSES", buses)
    monkeypatch.setattr(cores, "_ALLOWED", ALL)
    for bus, uuid, near in (("0000:0A:00.0", "GPU-????????", "8-11"), ("0000:06:00.0", "GPU-3-4", None)):
        (driver / bus).mkdir(parents=True)
        (driver / bus / "information").write_text(f"Model: \t\t NVIDIA H200\nGPU UUID: \t {uuid}\nBus Type: \t PCIe\n")
        (buses / bus.lower()).mkdir(parents=True)
        if near:
            (buses / bus.lower() / "local_cpulist").write_text(near + "\n")
    return driver


def test_what_the_driver_lists_is_read(gpus):
    assert cores.of_gpu("GPU-3-4") == 15
    assert cores.of_gpu("GPU-3") is None
    (gpus / "0000:0A:00.0" / "information").write_text("GPU UUID: \t GPU-1-2\n")
    assert cores.of_gpu("GPU-1-2") == 11


def test_without_a_gpu_nothing_is_set_aside(gpus, monkeypatch):
    monkeypatch.setattr(cores, "_DRIVER", gpus / "absent")
    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: pytest.fail("nothing to keep off"))
    assert cores.of_gpu("GPU-3-4") is None
    cores.keep_off()


def test_workers_keep_off_the_processors_of_all_gpus(gpus, monkeypatch):
    kept = []
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, which: kept.append((pid, which)))
    cores.keep_off()
    cores.keep_to(15)
    assert kept == [(0, ALL - {11, 15}), (0, {15})]
