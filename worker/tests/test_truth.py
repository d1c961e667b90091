"""What is known of large calls must not outlive its use: on a GPU it has gigabytes."""

import contextlib
import dataclasses
import gc
import pathlib
import weakref

import pytest
import torch

from kbx.oracle import judge, taskfile, truth
from kbx.suite import Close, call, errors

TANH = pathlib.Path(__file__).parents[2] / "tasks/kernelbenchx/Activation/tanh.py"
SEED = "5eed"


@pytest.fixture
def task():
    return taskfile.load(TANH, torch.device("cpu"))


@pytest.fixture(autouse=True)
def collector():
    """Memory must not wait for it."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("elements", [1000, 1 << 20])
def test_truth_of_a_call_is_freed_with_its_last_user(task, elements):
    known = truth.know(task, call(torch.rand(elements)), SEED)
    assert judge.decide(task, known, [known.expected]).status == "correct"
    expected = weakref.ref(known.expected)
    del known
    assert expected() is None


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (torch.OutOfMemoryError, "no room"),
        (RuntimeError, "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`"),
    ],
)
def test_failed_allocation_is_freed_before_the_next_attempt(task, kind, text):
    tries = []

    def reference(input, out=None):
        alive = [t for t in tries if t() is not None]
        assert not alive
        if input.dtype == torch.float64:
            tries.append(weakref.ref(input))
            raise kind(text)
        return torch.tanh(input)

    tight = dataclasses.replace(task, reference=reference)
    known = truth.know_where_there_is_room(tight, call(torch.rand(100)), SEED)
    assert known.truth is known.expected and len(tries) == 1


def test_memory_beyond_the_budget_is_freed_before_more_is_allocated(task):
    memory, alive = truth.Memory(budget=1 << 20), []

    def make():
        with contextlib.suppress(IndexError):
            assert alive[-1]() is None
        known = truth.know(task, call(torch.rand(1 << 20)), SEED)
        judge.decide(task, known, [known.expected])
        alive.append(weakref.ref(known.expected))
        return known

    for key in range(3):
        memory.get(key, make)


def test_the_yardstick_of_a_call_is_measured_once(task, monkeypatch):
    measured, real = [], errors.yardstick
    monkeypatch.setattr(errors, "yardstick", lambda *args: measured.append(args) or real(*args))
    known = truth.know(task, call(torch.rand(100)), SEED)
    measured.clear()
    for value, status in (
        (known.expected, "correct"),
        (known.expected * 1.01, "wrong_values"),
        (known.expected, "correct"),
    ):
        assert judge.decide(task, known, [value]).status == status
    assert len(measured) == 1
    lenient = dataclasses.replace(task, contract=Close(growth=1e6))
    assert judge.decide(lenient, known, [known.expected * 1.01]).status == "correct"


def test_custom_contract_caches_no_truth(task):
    class Halved(Close):
        def compare(self, call, results, expected, truth):
            return super().compare(call, [results[0] / 2], expected / 2, truth / 2)

    own = dataclasses.replace(task, contract=Halved())
    known = truth.know(own, call(torch.rand(100)), SEED)
    assert judge.decide(own, known, [known.expected]).status == "correct"
    assert judge.decide(own, known, [known.expected * 1.01]).status == "wrong_values"
    assert not known.on_host.kept
