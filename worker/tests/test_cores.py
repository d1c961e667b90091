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


def test_more_gpus_than_processors_share_them():
    assert cores.assigned([(n, set()) for n in "abc"], frozenset({4, 5})) == {"a": 5, "b": 4, "c": 5}


class Machine:
    """Folders of a driver and of buses."""

    def __init__(self, folder):
        self.driver, self.buses = folder / "gpus", folder / "pci"
        self.driver.mkdir()
        self.buses.mkdir()

    def device(self, bus, vendor="0x10de", kind="0x030200", near=""):
        (self.buses / bus).mkdir()
        for name, text in (("vendor", vendor), ("class", kind), ("local_cpulist", near)):
            (self.buses / bus / name).write_text(text + "\n")

    def lists(self, bus, uuid):
        (self.driver / bus).mkdir(exist_ok=True)
        (self.driver / bus / "information").write_text(
            f"Model: \t\t NVIDIA H200\nGPU UUID: \t {uuid}\nBus Type: \t PCIe\n"
        )


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Three GPUs and what is none; the driver lists the second and the third, which has never been used."""
    made = Machine(tmp_path)
    monkeypatch.setattr(cores, "_DRIVER", made.driver)
    monkeypatch.setattr(cores, "_BUSES", made.buses)
    monkeypatch.setattr(cores, "_ALLOWED", ALL)
    made.device("0000:01:00.0", vendor="0x8086")
    made.device("0000:02:00.0", kind="0x068000")
    made.device("0000:03:00.0")
    made.device("0000:06:00.0")
    made.device("0000:0a:00.0", near="8-11")
    made.lists("0000:06:00.0", "GPU-3-4")
    made.lists("0000:0A:00.0", "GPU-????????")
    return made


def test_gpu_index_is_among_all_gpus_of_the_machine(machine):
    assert cores.of_gpu("GPU-3-4") == 14
    assert cores.of_gpu("GPU-3") is None
    machine.lists("0000:0A:00.0", "GPU-1-2")
    assert cores.of_gpu("GPU-1-2") == 11


def test_few_processors_are_left_to_compiling(machine, monkeypatch):
    monkeypatch.setattr(cores, "_ALLOWED", frozenset(range(7)))
    assert cores.of_gpu("GPU-3-4") is None


def test_no_processor_is_reserved_without_a_gpu(machine, monkeypatch):
    monkeypatch.setattr(cores, "_DRIVER", machine.driver / "absent")
    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: pytest.fail("nothing to keep off"))
    assert cores.of_gpu("GPU-3-4") is None
    cores.keep_off()


def test_workers_keep_off_the_processors_of_the_gpus_they_see(machine, monkeypatch):
    kept = []
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, which: kept.append((pid, which)))
    cores.keep_off()
    assert cores.keep_to(14)
    assert kept == [(0, ALL - {11, 14}), (0, {14})]


def test_unavailable_processor_is_ignored():
    assert not cores.keep_to(1 << 14)
