"""Modules at their published sizes: what they take, and that what they take is there."""

import gc
import pathlib
import types
import weakref

import pytest
import torch
from test_models import TASK

from kbx import tensors
from kbx.messages import oracle as messages
from kbx.oracle import arenas, controls, cuda, footprint, models, plan, session, shape_tracing, taskfile, work
from kbx.oracle.devices import CpuDevice
from kbx.oracle.server import Server
from kbx.oracle.truth import Memory
from kbx.protocol import decode, encode
from kbx.suite import Inputs

TASKS = pathlib.Path(__file__).resolve().parents[2] / "tasks" / "kernelbench"
GIB = 1 << 30
H200, HOST = 139 * GIB, 128 * GIB
SPARE = 12 * GIB
"""Of the device, for contexts of other oracles and of runners that stand ready."""
SEED = "0abc"


@pytest.fixture
def write(tmp_path):
    def write(source, name="1_Linear_Scale"):
        path = tmp_path / f"{name}.py"
        path.write_text(source.lstrip(), encoding="utf-8")
        return str(path)

    return write


def published(path):
    """A task as a GPU has it, on the CPU."""
    task = taskfile.load(path, "cuda:0")
    return types.SimpleNamespace(task=task, estimate=footprint.of(task))


def when_timed(estimate):
    """Bytes on the device: large arenas, and besides what correctness takes a set of the oracle's own and a copy of what is
    looked at."""
    usual = cuda.capacities(H200 - SPARE, False, (estimate.lent, estimate.returned))
    large = cuda.capacities(H200 - SPARE, True, (estimate.lent, estimate.returned))
    assert large[0] >= estimate.lent and large[1] >= estimate.returned
    return estimate.device - sum(usual) + sum(large) + estimate.lent + estimate.returned


@pytest.mark.sampled(10)
@pytest.mark.parametrize("path", sorted(TASKS.glob("*/*.py")), ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_every_module_has_room_on_an_h200(path):
    estimate = published(str(path)).estimate
    assert estimate.lent > 0
    assert estimate.device < H200 - SPARE
    assert 3 * estimate.weights + 2 * GIB < HOST
    assert when_timed(estimate) < H200 - SPARE


def test_memory_of_a_call_is_summed(write):
    estimate = published(write(TASK)).estimate
    x, weight, bias, y = 512 * 256 * 4, 256 * 256 * 4, 256 * 4, 512 * 256 * 4
    assert (estimate.lent, estimate.weights) == (512 + (x + 512) * 9 // 8, weight + bias)
    assert estimate.returned == y * 9 // 8 + session.SLACK
    assert estimate.working == 2 * y  # the layer's result and its multiple
    assert estimate.device > 2 * GIB


def test_cpu_task_needs_no_device_memory(write):
    assert footprint.of(taskfile.load(write(TASK))) == footprint.Footprint()
    assert footprint.Footprint().device == 0


def test_value_dependent_shapes_are_left_out(write):
    path = write(TASK.replace("return self.linear(x) * factor", "return self.linear(x)[x[:, 0] > 0] * factor"))
    estimate = published(path).estimate
    assert estimate.returned == 0
    assert estimate.weights > 0


def test_endless_reference_is_not_traced(write, monkeypatch):
    monkeypatch.setattr(footprint, "MOST_OPERATIONS", 2)
    estimate = published(write(TASK, "2_Other")).estimate
    assert (estimate.returned, estimate.weights > 0) == (0, True)


def test_arenas_are_as_large_as_a_set_needs():
    assert cuda.capacities(100 * GIB, False, (0, 0)) == [GIB, GIB]
    assert cuda.capacities(100 * GIB, True, (0, 0)) == [12 * GIB, 12 * GIB]
    assert cuda.capacities(100 * GIB, True, (18 * GIB + 1, GIB)) == [18 * GIB + tensors.PAGE, 12 * GIB]
    assert cuda.capacities(10 * GIB, True, (0, 0)) == [2 * GIB, 2 * GIB]
    with pytest.raises(torch.OutOfMemoryError, match="two arenas take 19456 MiB, 10240 MiB are free"):
        cuda.capacities(10 * GIB, False, (18 * GIB, 0))


@pytest.mark.parametrize(("code", "kind"), [(2, torch.OutOfMemoryError), (700, RuntimeError)])
def test_out_of_memory_is_reported_and_cleared(code, kind):
    asked = []
    runtime = cuda.Runtime.__new__(cuda.Runtime)  # there may be no CUDA
    runtime.library = types.SimpleNamespace(
        cudaMalloc=lambda: code, cudaGetLastError=lambda: asked.append(code), cudaGetErrorString=lambda code: b"its text"
    )  # fmt: skip
    with pytest.raises(RuntimeError, match="cudaMalloc: its text") as raised:
        runtime.call("cudaMalloc")
    assert raised.type is kind and asked == [code]


class PublishedOnCpu(CpuDevice):
    """A CPU that is asked for the sizes of a GPU, and draws where the values are to be."""

    trimmed = 0

    def trim(self):
        self.trimmed += 1


@pytest.fixture
def server(monkeypatch):
    """A server whose modules have their published sizes though there is no GPU."""
    load = taskfile.load

    def as_on_a_gpu(path, device="cpu"):
        task = load(path, "cuda:0")
        object.__setattr__(task, "device", "cpu")
        return task

    monkeypatch.setattr(taskfile, "load", as_on_a_gpu)
    server = Server(PublishedOnCpu())
    yield server
    server._end_session()


def ask(server, request):
    return decode(server.answer(encode(request)), messages.ANSWERS)


def test_published_module_is_opened_within_its_estimate(server, write):
    path = write(TASK, "3_Open")
    estimate = ask(server, messages.EstimateMemory(1, path))
    assert isinstance(estimate, messages.MemoryEstimated), estimate
    opened = ask(
        server, messages.Open(2, path, SEED, None, timed=False, lent=3 * GIB, returned=estimate.returned, alone=True)
    )
    assert isinstance(opened, messages.Opened), opened
    assert [a["bytes"] for a in opened.arenas] == [3 * GIB, GIB]
    published = [call for call in opened.calls if not call["properties"]]
    assert (opened.scaled, len(published), len(opened.calls)) == (False, 7, 15)
    prepared = ask(server, messages.Prepare(3, 0))
    assert prepared.args[0]["shape"] == [512, 256]
    assert server.device.trimmed == 1


def test_weights_are_freed_after_a_candidate_or_task_check(server, write, monkeypatch):
    """They may be gigabytes on the GPU, and every candidate has others."""
    kept, make = [], models._Weights._make

    def made(weights, kind, wide):
        instance = make(weights, kind, wide)
        kept.append(weakref.ref(instance))
        return instance

    monkeypatch.setattr(models._Weights, "_make", made)
    path = write(TASK, "5_Kept")
    ask(server, messages.Open(1, path, SEED, None, timed=False, lent=0, returned=0, alone=True))
    assert isinstance(ask(server, messages.Prepare(2, 0)), messages.Prepared)
    ask(server, messages.Close(3))
    assert isinstance(ask(server, messages.VerifyTask(4, path, SEED, alone=True)), messages.TaskVerified)
    assert len(kept) > 2
    gc.collect()
    assert [alive for alive in kept if alive() is not None] == []


def test_device_memory_is_freed_without_garbage_collection(server, write):
    """A cycle holds gigabytes until it happens to be collected, which memory of a GPU does nothing to bring about."""
    path = write(TASK, "6_Cycles")
    ask(server, messages.VerifyTask(1, path, SEED, alone=True))  # what is imported first makes cycles of its own
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        assert isinstance(ask(server, messages.VerifyTask(2, path, SEED, alone=True)), messages.TaskVerified)
        ask(server, messages.Open(3, path, SEED, None, timed=False, lent=0, returned=0, alone=True))
        assert isinstance(ask(server, messages.Prepare(4, 0)), messages.Prepared)
        ask(server, messages.Close(5))
        gc.collect()
        assert [x.shape for x in gc.garbage if isinstance(x, torch.Tensor)] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def test_planning_calls_makes_no_published_case(write, monkeypatch):
    task = published(write(TASK, "4_Plan")).task
    call, devices = type(task).call, set()

    def made(self, *args, **kwargs):
        devices.add(self.device)
        return call(self, *args, **kwargs)

    monkeypatch.setattr(type(task), "call", made)
    calls = plan.plan(task, SEED)
    assert [call.repeats for call in calls if not call.properties] == [None] * 5 + [0]
    assert devices == {"cpu"}  # where the smaller sizes are, which tell what the reference takes


def opened(task, alone):
    pair = arenas.MemoryArena("in"), arenas.MemoryArena("out")
    return session.Session(task, SEED, pair, torch.device("cpu"), alone, budget=100)


@pytest.fixture
def crowded(write, monkeypatch):
    """A task whose reference has no memory for float64."""
    source = TASK.replace(
        "return self.linear(x) * factor",
        "if x.dtype == torch.float64:\n            raise torch.OutOfMemoryError('CUDA out of memory')\n"
        "        return self.linear(x) * factor",
    )
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    return taskfile.load(write(source, "5_Crowded"))


def test_exclusive_candidate_without_room_skips_float64(crowded):
    alone = opened(crowded, alone=True)
    known = alone.known(0)
    assert known.truth is known.expected
    alone.close()


def test_shared_candidate_without_room_never_skips_float64(crowded):
    shared = opened(crowded, alone=False)
    with pytest.raises(torch.OutOfMemoryError):
        shared.known(0)
    shared.close()


def test_memory_of_a_failed_attempt_is_freed(server, crowded, monkeypatch):
    trims = []
    monkeypatch.setattr(server.device, "trim", lambda: trims.append(1))
    failed = ask(server, messages.VerifyTask(1, crowded.path, SEED, alone=False))
    assert (failed.reason, trims) == ("memory", [1])


def test_calls_of_gigabytes_are_not_kept(write):
    current = opened(taskfile.load(write(TASK, "6_Kept")), alone=True)
    current.prepare(0)
    assert list(current.memory.known) == [current.calls[0].seed]
    first = current.memory.known.copy()
    current.prepare(1)
    assert len(current.memory.known) == 1 and current.memory.known.keys() != first.keys()
    current.close()
    assert (current.memory.held, len(current.memory.known)) == (0, 0)


def test_cached_truth_is_freed_before_more_is_allocated():
    memory, seen = Memory(budget=100), []
    memory.get("one", lambda: types.SimpleNamespace(nbytes=1000))
    memory.get("two", lambda: seen.append(memory.held) or types.SimpleNamespace(nbytes=10))
    assert (seen, list(memory.known)) == ([0], ["two"])


def test_modules_are_drawn_on_their_device(write, monkeypatch):
    made = []

    class Noted(Inputs):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr("kbx.oracle.task.Inputs", Noted)
    for task in (published(write(TASK, "7_Drawn")).task, taskfile.load(write(TASK, "7_Drawn"))):
        task.call(task.cases[0], "standard", "x")
    assert [inputs.fast for inputs in made] == [True, True, False]  # estimated, drawn, drawn at a scaled size


def test_a_large_task_has_few_calls_and_controls_end_when_they_are_rejected(write, monkeypatch):
    task = published(write(TASK, "8_Controls")).task
    object.__setattr__(task, "device", "cpu")
    monkeypatch.setattr(controls, "LARGE", 1 << 20)
    rows = {row["name"]: row for row in controls.verify(task, SEED, "cpu")}
    assert all(row["ok"] for row in rows.values()), rows
    assert rows["positive_from_outside"]["detail"] == "passed 2 calls"
    assert rows["zeros"]["detail"].startswith("rejected in 1 of 1 calls; ")
    monkeypatch.setattr(controls, "LARGE", GIB)
    rows = {row["name"]: row for row in controls.verify(task, SEED, "cpu")}
    assert rows["positive_from_outside"]["detail"] == "passed 9 calls"
    assert rows["zeros"]["detail"].startswith("rejected in 9 of 9 calls; ")


def test_controls_share_the_parameters_of_the_model(write):
    task = taskfile.load(write(TASK, "9_Shared")).seeded(SEED)
    rival = task.weights.give(task.rivals["negative_no_bias"])
    assert type(rival).__name__ == "NegativeNoBias"
    assert rival.linear.weight is task.weights.give().linear.weight


def test_modules_are_traced_at_their_published_sizes(write):
    task = published(write(TASK, "10_Ahead")).task
    assert shape_tracing.calls(task, True)[0]["args"][0]["shape"] == [512, 256]
    wide = published(write(TASK.replace("batch=512, features=256", "batch=1 << 20, features=20000"), "11_Wide")).task
    assert shape_tracing.calls(wide, True)[0]["args"][0]["shape"] == [1 << 20, 20000]


def test_work_is_measured_once_whatever_the_weights(write):
    task, made = taskfile.load(write(TASK, "12_Work")), []

    def make():
        made.append(task.call(task.cases[0], "standard", "x"))
        return made[-1]

    one, other = (work.of(task.seeded(seed), 0, make) for seed in ("0a", "0b"))
    assert (one is other, len(made)) == (True, 1)
