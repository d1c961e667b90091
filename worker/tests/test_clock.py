"""What the device does around timed calls, and what may come back as a result."""

import gc

import pytest
import torch
from bench_client import bench

from kbx import clock, results
from kbx.clock import Before, Call, Clock, Timed
from kbx.oracle.cuda import Scratch


class Context:
    """Stands in for the driver's."""

    def __init__(self, log):
        self.wait = lambda event: log.append(f"all wait for {event.name}")
        self.record = lambda event: log.append(f"{event.name} after all")


class Device:
    """Stands in for a GPU's C types: takes down what the clock asks of it, in order."""

    HOME, OTHER = (0, 0, 1), (7, 0, 1)

    def __init__(self, monkeypatch):
        device, self.log, self.current, self.overtaken = self, [], self.HOME, False

        class Event:
            def __init__(self, enable_timing=False):
                self.name = "event" if enable_timing else "join"

            def record(self, stream):
                device.log.append(f"{self.name} on {stream}")

            def wait(self, stream):
                device.log.append(f"{stream} waits for {self.name}")

            def query(self):
                return device.overtaken

            def elapsed_time(self, end):
                return 0.5

        monkeypatch.setattr(clock, "_Event", Event)
        monkeypatch.setattr(clock, "_Stream", lambda **_: "main")
        monkeypatch.setattr(clock, "Context", lambda: Context(self.log))
        monkeypatch.setattr(clock, "_current", lambda index: self.current)
        monkeypatch.setattr(clock, "_set_current", lambda *stream: setattr(self, "current", stream))
        monkeypatch.setattr(clock, "_wait", lambda: self.log.append("wait"))
        monkeypatch.setattr(clock, "_fill", lambda tensor, value: self.log.append(f"write {tensor.numel()}"))
        monkeypatch.setattr(clock, "_copy", lambda target, source: self.log.append(f"read {source.numel()}"))
        self.clock = Clock(torch.device("cpu", 0))

    def time(self, before, function, calls=1):
        self.log.clear()
        timed = [Call(function, [k], {}, [torch.zeros(3)]) for k in range(calls)]
        found = self.clock.time(timed, before, lambda call, result: self.log.append(f"result {result}"))
        assert found == [Timed(0.5, self.overtaken)] * calls
        return self.log


@pytest.fixture
def device(monkeypatch):
    return Device(monkeypatch)


MADE = ["event on main", "event on main"]
BEGUN, ENDED = ["event on main"], ["join after all", "main waits for join", "event on main"]


@pytest.mark.parametrize(
    ("before", "prepared"),
    [
        (Before(8, 3, False), ["wait", "write 8", "write 8", "write 8"]),
        (Before(8, 0, False), ["wait", "write 8", "wait"]),
        (Before(8, 2, True), ["wait", "write 8", "write 8", "read 3"]),
        (Before(8, 0, True), ["wait", "read 3", "wait"]),
    ],
)
def test_all_calls_of_a_batch_begin_in_the_same_state(device, before, prepared):
    log = device.time(before, lambda k: device.log.append("call") or k, calls=2)
    # Where the device has nothing to do it passes the first event at once.
    timed = [*BEGUN, *(["all wait for event"] if before.lead else []), "call", *ENDED]
    assert log == [*MADE, *prepared, *timed, "result 0", *MADE, *prepared, *timed, "result 1", "wait"]


def test_call_reached_by_the_device_before_launch_is_host_bound(device):
    device.overtaken = True
    device.time(Before(8, 1, False), lambda k: None)


def test_a_call_that_leaves_another_stream_current_changes_nothing(device):
    def call(k):
        device.current = Device.OTHER

    device.time(Before(8, 1, False), call)
    assert device.current == Device.HOME


def test_raising_call_restores_all_state(device):
    def call(k):
        device.current = Device.OTHER
        raise ValueError("out of luck")

    with pytest.raises(ValueError, match="out of luck"):
        device.time(Before(8, 1, False), call)
    assert device.current == Device.HOME
    assert gc.isenabled()


def test_modes_left_entered_do_not_shrink_the_flush(device):
    class Smaller(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            return function(1, **(kwargs or {})) if function is torch.empty else function(*args, **(kwargs or {}))

    with Smaller():
        log = device.time(Before(8, 1, False), lambda k: None)
    assert "write 8" in log


PATCHED_COPY = """
stock = torch.Tensor.copy_
torch.Tensor.copy_ = lambda target, source, *args: stock(target, torch.ones_like(source))
"""

FUNCTION_MODE = """
from torch.overrides import TorchFunctionMode

class Late(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") == "copy_":
            args = (args[0], torch.ones_like(args[1]))
        return function(*args, **(kwargs or {}))

Late().__enter__()
"""


@pytest.mark.parametrize("hook", ["", PATCHED_COPY, FUNCTION_MODE])
def test_fetching_a_result_runs_no_computation(hook):
    with bench(hook + "def run(x):\n    return torch.zeros(4, device='cuda')") as client:
        assert client.run(torch.zeros(4)).tolist() == [0.0] * 4


LAZY = """
class Lazy(torch.Tensor):
    pass

def run(x):
    return torch.Tensor._make_subclass(Lazy, torch.zeros(4, device="cuda"))
"""


def test_tensor_subclass_of_the_candidate_is_opaque():
    with bench(LAZY) as client:
        assert client.call(torch.zeros(4)).value == {"t": "opaque", "v": "candidate.Lazy"}


def test_parameter_is_accepted_as_tensor():
    with bench("def run(x):\n    return torch.nn.Parameter(x)") as client:
        assert client.run(torch.ones(4)).tolist() == [1.0] * 4


def test_reference_results_are_copied_into_one_buffer():
    scratch, call = Scratch(1024, torch.device("cpu")), Call(None, [], {}, [])
    for k in (1.0, 2.0):
        scratch.take(call, (torch.full((8,), k), None))
        assert scratch.typed(0, 8, torch.float32).tolist() == [k] * 8


def test_result_without_room_is_not_copied():
    scratch = Scratch(16, torch.device("cpu"))
    scratch.take(Call(None, [], {}, []), torch.ones(8))
    assert scratch.used == 0


class Late(tuple):
    def __iter__(self):
        self[0].fill_(1)
        return super().__iter__()


class Later(dict):
    def items(self):
        self["a"].fill_(1)
        return super().items()

    keys = __iter__ = items


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda x: x.to_sparse(), "tensor of layout torch.sparse_coo"),
        (lambda x: x.to_sparse_csr(), "tensor of layout torch.sparse_csr"),
        (lambda x: torch.nested.nested_tensor([x, x[:1]]), "nested tensor"),
    ],
)
def test_result_without_strides_is_named_and_not_copied(make, kind):
    found = results.put(make(torch.ones(2, 3)), Scratch(1 << 20, torch.device("cpu")), [])
    assert found == {"t": "opaque", "v": kind}


@pytest.mark.parametrize(
    "make", [lambda x: x, lambda x: Late((x,)), lambda x: Later(a=x), lambda x: [x, {"b": (x, None)}]]
)
@pytest.mark.parametrize(
    "name", ["numel", "shape", "is_meta", "dtype", "element_size", "stride", "untyped_storage", "layout", "is_nested"]
)
def test_no_code_of_the_candidates_own_runs_after_the_clock(monkeypatch, make, name):
    result, arena = torch.zeros(4), Scratch(1 << 20, torch.device("cpu"))
    arena.content.fill_(7)
    stock = getattr(torch._C.TensorBase, name)

    def late(tensor, *args):
        result.fill_(1)
        return stock(tensor, *args)

    if callable(stock):
        monkeypatch.setattr(torch.Tensor, name, late, raising=False)
    else:
        monkeypatch.setattr(torch.Tensor, name, property(lambda t: result.fill_(1) and None), raising=False)
    results.put(make(result), arena, [])
    monkeypatch.undo()
    assert arena.typed(0, 4, torch.float32).tolist() == result.tolist() == [0.0] * 4


def test_peak_memory_excludes_memory_held_before_the_call(monkeypatch):
    device = Device(monkeypatch)
    device.clock._device = torch.device("cuda", 0)
    monkeypatch.setattr(clock, "_empty", lambda *_, **__: torch.zeros(1))
    held = {"current": 100, "peak": 700}

    def reset(index):
        device.log.append("peak forgotten")
        held["peak"] = held["current"]

    monkeypatch.setattr(clock, "_reset_peaks", reset)
    monkeypatch.setattr(clock, "_statistics", lambda index: {"allocated_bytes": {"all": dict(held)}})

    def work(grown):
        held["peak"] = held["current"] + grown

    calls = [Call(work, [grown], {}, []) for grown in (40, 30)]
    device.log.clear()
    timed = device.clock.time(calls, Before(1, 1, False), lambda call, result: None)
    assert [each.peak_bytes for each in timed] == [40, 30] and clock.peak_bytes(timed) == 40
    begun = device.log.index("all wait for event")
    assert device.log.index("peak forgotten") < begun, "outside of what is timed"
    assert clock.peak_bytes([Timed(1.0, False)]) is None
