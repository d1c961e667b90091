"""Benchmark sizes without a GPU: the same code over CPU arenas, with a device whose clock is the host's."""

import time
import types
import weakref

import pytest
import torch
import torch.nn.functional as F
from oracle_process import SEED, TASKS, claim

from kbx import tensors
from kbx.clock import Timed
from kbx.messages import oracle as messages
from kbx.oracle import arenas, judge, taskfile
from kbx.oracle.bench import Bench, NotRecorded
from kbx.oracle.server import Server
from kbx.oracle.session import Session, WrongOrder
from kbx.oracle.task import InvalidTask
from kbx.protocol import decode, encode
from kbx.suite import Contract


class HostDevice:
    """What ``Bench`` needs of a ``CudaDevice``."""

    torch_device = torch.device("cpu")
    flush_bytes = 1 << 20

    def synchronize(self):
        pass

    def copies(self, returned):
        return True

    def time(self, calls, lead, warm=False, returned=0):
        seconds = []
        for call in calls:
            start = time.perf_counter()
            call.function(*call.args, **call.kwargs)
            seconds.append(time.perf_counter() - start)
        return [Timed(1e3 * s, host_bound=False) for s in seconds]

    def recorded(self, functions):
        raise RuntimeError("operation not permitted when stream is capturing\nCompile with ...")


@pytest.fixture
def prepare():
    opened = []

    def prepare(path, size=0, sets=3, round_=0):
        pair = arenas.MemoryArena("in"), arenas.MemoryArena("out")
        session = Session(taskfile.load(str(TASKS / path)), SEED, pair, HostDevice.torch_device)
        opened.append(session)
        return Bench(session, size, sets, round_, HostDevice())

    yield prepare
    for session in opened:
        session.close()


def answer(bench, entry):
    """What a runner's ``measured.values`` would be; results go where ``slot`` says."""
    lent, out = bench.session.lent, bench.session.out
    values = []
    for call in bench.calls or bench.lend():
        args = [tensors.decode(a, lent.view) for a in call["args"]]
        kwargs = {k: tensors.decode(v, lent.view) for k, v in call["kwargs"].items()}
        out.used = call["slot"]
        result = entry(*args, **kwargs)
        values.append(
            tensors.encode(result, lambda t, a=args: claim(t, out, [x for x in a if isinstance(x, torch.Tensor)]))
        )
    return values


def test_every_set_is_fresh_and_has_its_own_slot(prepare):
    bench = prepare("Activation/gelu.py")
    message = bench.message(1)
    assert isinstance(message, messages.PreparedSize)
    assert [c["slot"] for c in bench.lend()] == [0, 18432, 36864]
    assert (message.bytes, message.flops) == (2 * 4 * 4096, None)
    assert not torch.equal(bench.own[0].args[0], bench.own[1].args[0])
    assert len(bench.baseline(1)) == 3
    other = prepare("Activation/gelu.py", round_=1)
    assert not torch.equal(bench.own[0].args[0], other.own[0].args[0])


def test_right_and_wrong_timed_results(prepare):
    bench = prepare("Activation/gelu.py")
    values = answer(bench, lambda input, approximate="none": F.gelu(input, approximate=approximate))
    assert bench.check([0, 2], [values[0], values[2]]).status == "correct"
    outside = "timed call 2: a result lies outside the part of the arena that is for its call"
    assert bench.check([2], [values[1]]).message == outside
    bench.session.out.typed(18432, 4096, torch.float32)[100] += 1e-3
    assert bench.check([0, 2], [values[0], values[2]]).status == "correct"
    judgement = bench.check([1], [values[1]])
    assert (judgement.status, judgement.mismatches[0]["index"]) == ("wrong_values", [100])
    bench.session.lent.typed(0, 1, torch.float32).add_(1)
    assert bench.check([0], [values[0]]).status == "input_mutated"


def test_results_never_written_are_wrong(prepare):
    bench = prepare("Activation/gelu.py")
    values = answer(bench, lambda input, approximate="none": F.gelu(input, approximate=approximate))
    fresh = Bench(bench.session, 0, 3, 1, HostDevice())
    fresh.lend()
    assert fresh.check([0], [values[0]]).status == "wrong_values"


def test_results_written_during_the_truth_are_late(prepare, monkeypatch):
    """A runner that says it is done and goes on must not gain the time that the oracle spends on the truth."""

    def gelu(input, approximate="none"):
        return F.gelu(input, approximate=approximate)

    bench = prepare("Activation/gelu.py")
    claimed = answer(bench, lambda input, approximate="none": torch.zeros_like(input))
    made, late = bench._as_made, []

    def finish_late(k):
        late.append(k)
        answer(bench, gelu)
        return made(k)

    monkeypatch.setattr(bench, "_as_made", finish_late)
    assert bench.check([0, 2], [claimed[0], claimed[2]]).status == "wrong_values"
    assert late


def test_without_memory_for_all_results_one_is_checked(prepare, monkeypatch):
    bench = prepare("Activation/gelu.py")
    values = answer(bench, lambda input, approximate="none": torch.zeros_like(input))
    take, taken = bench._take, []

    def full(slot):
        if len(taken) == 2:
            taken.append(None)
            raise torch.OutOfMemoryError("no room for a third")
        taken.append(slot)
        return take(slot)

    monkeypatch.setattr(bench, "_take", full)
    judgement = bench.check([0, 1, 2], values)
    assert judgement.status == "wrong_values" and judgement.message.startswith(f"timed call {taken[3]}:")


def test_arguments_updated_by_timed_calls_are_checked(prepare):
    bench = prepare("Optimizer/AdamW.py")
    values = answer(bench, bench.task.reference)
    assert bench.check([0, 1, 2], values).status == "correct"
    bench.baseline(1)
    assert bench.check([0, 1, 2], values).status == "correct"
    answer(bench, bench.task.reference)
    assert bench.check([0], values[:1]).status == "wrong_values"


def test_arenas_are_not_lent_before_a_request(prepare):
    bench = prepare("Activation/gelu.py")
    assert not bench.session.lent.typed(0, 4096, torch.float32).any()
    with pytest.raises(WrongOrder):
        bench.check([0], [{"t": "none"}])
    bench.lend()
    assert torch.equal(bench.session.lent.typed(0, 4096, torch.float32), bench.own[0].args[0])


def test_a_baseline_that_updates_its_arguments_leaves_the_candidate_s_alone(prepare):
    bench = prepare("Optimizer/AdamW.py")
    bench.baseline(1)
    values = answer(bench, bench.task.reference)
    assert bench.check([0, 1, 2], values).status == "correct"


def test_a_result_without_tensors_has_a_slot_too(prepare, tmp_path):
    text = (TASKS / "Activation/gelu.py").read_text()
    path = tmp_path / "gelu.py"
    path.write_text(
        text.replace("    return F.gelu(input, approximate=approximate)", "    return input.sum().item()", 1)
    )
    bench = prepare(path)
    assert len(bench.lend()) == 3
    values = [tensors.encode(call.args[0].sum().item(), None) for call in bench.own]
    assert bench.check([0, 1, 2], values).status == "correct"
    assert bench.check([0], values[1:2]).status == "wrong_values"


def test_only_sets_that_fit_are_made(prepare, monkeypatch):
    monkeypatch.setattr(arenas, "CAPACITY", 40_000)
    assert len(prepare("Activation/gelu.py").lend()) == 2
    monkeypatch.setattr(arenas, "CAPACITY", 1000)
    with pytest.raises(MemoryError, match="one call of this size are too large for the arenas"):
        prepare("Activation/gelu.py")


def test_session_state_ends_with_the_session():
    pair = arenas.MemoryArena("in"), arenas.MemoryArena("out")
    session = Session(taskfile.load(str(TASKS / "Activation/gelu.py")), SEED, pair, HostDevice.torch_device)
    known = weakref.ref(session.known(0))
    assert session.known(0) is known()
    session.close()
    assert known() is None


def test_a_case_too_large_for_the_arena_is_the_task_s_fault(monkeypatch):
    monkeypatch.setattr(arenas, "CAPACITY", 4096)
    pair = arenas.MemoryArena("in"), arenas.MemoryArena("out")
    session = Session(taskfile.load(str(TASKS / "Activation/gelu.py")), SEED, pair, HostDevice.torch_device)
    small, large = (next(c.index for c in session.calls if c.parameters["shape"] == s) for s in ((37,), (2, 3, 17, 19)))
    session.prepare(small)
    with pytest.raises(InvalidTask, match="are needed, it has 4096"):
        session.prepare(large)
    session.close()


@pytest.mark.parametrize(("size", "sets"), [(99, 1), (-1, 1), (0, 0)])
def test_sizes_that_do_not_exist_are_refused(prepare, size, sets):
    with pytest.raises(WrongOrder):
        prepare("Activation/gelu.py", size, sets)


def test_slots_that_do_not_exist_are_refused(prepare):
    bench = prepare("Activation/gelu.py")
    for slots, values in (([3], [{}]), ([-1], [{}]), ([0], [])):
        with pytest.raises(WrongOrder):
            bench.check(slots, values)


@pytest.mark.parametrize(
    ("path", "whole"),
    [("Activation/relu.py", True), ("Math/softmax.py", True), ("MatrixMultiply/matmul.py", True), ("Reduce/sum.py", True),
     ("Index/index_select.py", False), ("Index/masked_select.py", False)],
)  # fmt: skip
def test_only_a_reference_that_needs_every_byte_sets_a_limit(prepare, path, whole):
    message = prepare(path, sets=1).message(1)
    assert message.least_bytes == (message.bytes if whole else None)
    assert 0 < message.result_bytes <= message.bytes


def test_the_device_s_state_comes_with_the_baseline_and_outside_its_time(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("kbx.oracle.server.time", types.SimpleNamespace(monotonic=lambda: now[0]))

    class Device:
        def state(self):
            now[0] += 0.25
            return {"sm_mhz": 1980, "throttle": []}

    def baseline(lead, warm, graph):
        now[0] += 4.0
        return [Timed(1.0, True), Timed(2.0, False)]

    server = Server(Device())
    server.bench = types.SimpleNamespace(baseline=baseline)
    answer = decode(server.answer(encode(messages.Baseline(7, 1))), messages.ANSWERS)
    assert (answer.id, answer.device_ms, answer.host_bound) == (7, [1.0, 2.0], 1)
    assert answer.state == {"sm_mhz": 1980, "throttle": []}
    assert (answer.seconds, answer.state_seconds) == (4.0, 0.25)


def test_figures_that_no_message_holds_are_left_out():
    figures = {"max_abs": float("inf"), "max_rel": float("nan"), "error_ratio": 2.0}
    server = Server(HostDevice())
    server.bench = types.SimpleNamespace(check=lambda slots, values: judge.Judgement("wrong_values", metrics=figures))
    server.session = types.SimpleNamespace(task=types.SimpleNamespace(contract=Contract()))
    answer = decode(server.answer(encode(messages.CheckSize(7, [0], [{}]))), messages.ANSWERS)
    assert (answer.status, answer.metrics) == ("wrong_values", {"error_ratio": 2.0})


def test_a_reference_that_cannot_be_recorded_has_no_times_and_a_reason(prepare):
    server = Server(HostDevice())
    server.bench = prepare("Activation/gelu.py")
    answer = decode(server.answer(encode(messages.Baseline(7, 1, graph=True))), messages.ANSWERS)
    assert (answer.device_ms, answer.unrecorded) == ([], "operation not permitted when stream is capturing")


def test_with_a_warm_cache_every_call_s_arguments_are_read_before(prepare):
    read = []

    class Device(HostDevice):
        def time(self, calls, lead, warm=False, returned=0):
            read.extend((call.inputs, lead, warm) for call in calls)
            return super().time(calls, lead)

    bench = prepare("Activation/gelu.py")
    bench.device = Device()
    bench.baseline(5, warm=True)
    assert [(inputs[0] is call.args[0], *rest) for (inputs, *rest), call in zip(read, bench.own, strict=True)] == [
        (True, 5, True)
    ] * 3


class RecordingDevice(HostDevice):
    """Its graphs are the calls themselves: they compute from what lies in their arguments when they are replayed."""

    def recorded(self, functions):
        return functions


def test_graphs_are_recorded_once_and_get_the_values_of_each_round(prepare):
    bench = prepare("Optimizer/AdamW.py")
    bench.device = RecordingDevice()
    bench.baseline(1, graph=True)
    recorded = bench.session.recorded[0]
    assert len(recorded.graphs) == len(bench.own) == 3
    fresh = Bench(bench.session, 0, 3, 1, RecordingDevice())
    assert bench.session.recorded[0] is recorded
    assert torch.equal(recorded.calls[1].args[0], fresh.own[1].args[0])
    assert not torch.equal(recorded.calls[1].args[0], bench.own[1].args[0])
    assert len(fresh.baseline(1, graph=True)) == 3


def test_graph_with_wrong_results_is_not_used(prepare):
    class Device(HostDevice):
        def recorded(self, functions):
            stale = [function() for function in functions]
            return [lambda s=s: torch.zeros_like(s) for s in stale]

    bench = prepare("Activation/gelu.py")
    bench.device = Device()
    with pytest.raises(NotRecorded, match="CUDA graph gives a wrong result: wrong_values"):
        bench.baseline(1, graph=True)


def test_graphs_are_not_reused_for_other_shapes(prepare):
    bench = prepare("Activation/gelu.py")
    bench.device = RecordingDevice()
    bench.baseline(1, graph=True)
    other = Bench(bench.session, 0, 2, 1, RecordingDevice())
    with pytest.raises(NotRecorded, match="arguments changed between rounds"):
        other.baseline(1, graph=True)
