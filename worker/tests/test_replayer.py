"""What keeps the records of a runner on a GPU, and what makes its calls again there: here in memory of the host, and without launches."""

import contextlib
import json
import socket
import threading

import pytest
import torch
from bench_client import HostArena

from kbx.executor import on_gpu, recorder, replayer
from kbx.executor.channel import Broken, Channel, Executor
from kbx.executor.compiler import key_of
from kbx.executor.replay import Unfit
from kbx.oracle import origin
from kbx.oracle.executions import Executions, Replayed
from kbx.oracle.judge import Judgement
from kbx.oracle.replayer import Replayer
from kbx.oracle.session import lend
from kbx.runner import execution, trace
from kbx.suite import Call
from kbx.ttir.launch import ASCENDING

OLDER = torch.arange(4.0)
"""There before any call."""


class Loop:
    """Runner, recorder, oracle and replayer of one candidate, in one process."""

    def __init__(self, monkeypatch):
        self.lent, self.out = HostArena("in"), HostArena("out")
        monkeypatch.setattr(replayer.arenas, "open_handles", lambda *_: {"in": self.lent, "out": self.out})
        monkeypatch.setattr(HostArena, "close", lambda self: None, raising=False)
        monkeypatch.setattr(HostArena, "describe", lambda self: {"name": self.name}, raising=False)
        monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: None)
        monkeypatch.setattr(execution, "_client", None)
        (runner, runners), (asking, asked), (compiling, self._compiler) = (socket.socketpair() for _ in range(3))
        asking.sendall(b"[]")
        self._beside(lambda: recorder.serve(runners, asked, compiling, None))
        self.executions = Executions(lambda: Channel(asking), replayer=self._replayer())
        execution.connect_recorder(Executor(runner, None), self.lent.typed(0, 1, torch.uint8).data_ptr())

    def _replayer(self):
        ours, theirs = socket.socketpair()
        self._beside(lambda: replayer._Replayer(Channel(theirs), torch.device("cpu")).run())
        made = Replayer(type("Starter", (), {"start": lambda _: Channel(ours), "stop": lambda _: None})())
        made.open([self.lent, self.out])
        return made

    @staticmethod
    def _beside(serve):
        def quietly():
            with contextlib.suppress(Broken):
                serve()

        threading.Thread(target=quietly, daemon=True).start()

    def call(self, function, *tensors):
        """The function is called as a candidate is."""
        leaves = self._lend(tensors)
        self.executions.prepare(0, leaves, ASCENDING, 0)
        given = [self.lent.view(leaf) for leaf in leaves]
        with trace.recording(trace.Trace(given, execution.keep)) as made:
            result = function(*given)
        made.take(result)
        execution.record(made)
        return result

    def again(self, *tensors, back=0):
        """The last call made again on other arguments."""
        return self.executions.replay(back, self._lend(tensors), (), 0)

    def _lend(self, tensors):
        self.lent.reset()
        return lend(Call(tensors, {}), self.lent)[2]


@pytest.fixture
def loop(monkeypatch):
    return Loop(monkeypatch)


def test_call_is_made_again_on_other_values(loop):
    loop.call(lambda x, y: (x + OLDER).cos() * y, torch.ones(4), torch.ones(4))
    x, y = torch.randn(4), torch.randn(4)
    replayed = loop.again(x, y)
    assert replayed.unfit is None
    torch.testing.assert_close(replayed.results, [(x + OLDER).cos() * y])
    assert replayed.older == OLDER.nbytes


def test_older_memory_is_told_again_when_it_has_changed(loop):
    weight = torch.ones(3)
    loop.call(lambda x: x * weight, torch.ones(3))
    loop.call(lambda x: x * weight, torch.ones(3))
    assert loop.again(torch.ones(3)).results[0].tolist() == [1.0] * 3
    weight.fill_(5.0)
    loop.call(lambda x: x * weight, torch.ones(3))
    assert loop.again(torch.ones(3)).results[0].tolist() == [5.0] * 3
    assert loop.again(torch.ones(3), back=1).results[0].tolist() == [1.0] * 3


def test_arguments_that_a_call_changes_are_changed_in_the_arena(loop):
    loop.call(lambda x: x.mul_(2)[:0], torch.ones(5))
    assert loop.again(torch.full((5,), 3.0)).unfit is None
    assert loop.lent.typed(0, 5, torch.float32).tolist() == [6.0] * 5


def test_what_cannot_be_made_again_is_said(loop):
    loop.call(lambda x: x.to_sparse().to_dense(), torch.ones(3))
    assert "sparse" in loop.again(torch.ones(3)).unfit


def test_one_that_has_ended_proves_nothing(loop):
    loop.call(lambda x: x + 1, torch.ones(3))
    assert loop.again(torch.ones(3)).unfit is None
    loop.executions._replayer._channel.close()
    assert "answers Broken" in loop.again(torch.ones(3)).unfit


def test_next_candidate_has_arenas_of_its_own(loop):
    loop.call(lambda x: x + 1, torch.ones(3))
    assert loop.again(torch.ones(3)).results[0].tolist() == [2.0] * 3
    replayer = loop.executions._replayer
    replayer.close()
    replayer.open([loop.lent, loop.out])
    loop.call(lambda x: x + 2, torch.ones(3))
    assert loop.again(torch.ones(3)).results[0].tolist() == [3.0] * 3


KERNEL = {"description": {"objects": [{"file": "/tmp/candidate.py"}], "function": 0}, "options": {}, "arch": 90}


def test_kernels_that_were_compiled_ahead_are_not_compiled_again():
    (runner, runners), (asking, asked), (compiling, compiler) = (socket.socketpair() for _ in range(3))
    asking.sendall(b"[]")
    threading.Thread(target=lambda: recorder.serve(runners, asked, compiling, None), daemon=True).start()
    candidate, oracle, compiler = Channel(runner), Channel(asking), Channel(compiler)
    executions = Executions(lambda: oracle, replayer=object(), kernels={key_of(KERNEL): '{"files": {}, "hash": "abc"}'})
    other = KERNEL | {"arch": 80}
    executions.prepare(0, [], ASCENDING, 0)
    for number, told in enumerate((KERNEL, other)):
        candidate.send({"kernel": number, **told})
        candidate.send({"launch": number})
    candidate.send({"record": [{"launch": 0}, {"launch": 1}], "results": [], "gap": None})
    assert compiler.receive()[0] == other
    compiler.send({"name": "k", "hash": "def", "seconds": 0.1, "files": {"k.cubin": "AA==", "k.ptx": "AA=="}})
    oracle.send({"replay": 0, "lent": []})
    _, blobs = oracle.receive()
    assert [json.loads(blob) for blob in blobs] == [
        {"files": {}, "hash": "abc", "own": True},
        {"files": {"k.cubin": "AA=="}, "hash": "def", "own": True},
    ]


class Answers:
    """An executor's answers to requests for replays, in turn."""

    on_gpu = True

    def __init__(self, *made):
        self.made = list(made)

    def replay(self, *_):
        return self.made.pop(0)


@pytest.mark.parametrize(
    ("answers", "elsewhere", "flags"),
    [
        ("WWWW", True, []),
        ("WWR", False, []),
        ("WWWU", False, ["unproven_origin"]),
        ("R", False, []),
        ("UU", False, ["unproven_origin"]),
    ],
)
def test_one_failure_on_a_gpu_accuses_nobody(monkeypatch, answers, elsewhere, flags):
    """W: made again with a wrong result; R: with a right one; U: not made again."""
    kinds = {"W": Replayed([torch.zeros(3)]), "R": Replayed([torch.ones(3)]), "U": Replayed(unfit="no memory")}
    monkeypatch.setattr(origin, "_is_right", lambda *given: bool(given[-1].results[0].all()))
    made = Answers(*(kinds[each] for each in answers))
    judgement = origin.judged(None, None, [], None, made, (), lambda: (), Judgement("correct"))
    assert (judgement.elsewhere is not None, judgement.flags, made.made) == (elsewhere, flags, [])


def bytes_of(tensor):
    return tensor.reshape(-1).view(torch.uint8)


FIRST, SECOND = 1 << 40, 2 << 40
"""Addresses in the call."""


def argument(kind, told, held, given=()):
    return on_gpu._Places(held, given).argument(kind, iter(told))


def test_pointers_lead_to_where_memory_lies_now():
    held = {FIRST: bytes_of(torch.zeros(8)), SECOND: bytes_of(torch.zeros(8))}
    assert argument("*fp32", [SECOND + 12], held) == held[SECOND].data_ptr() + 12
    assert argument("*fp32", [SECOND + 32], held) == held[SECOND].data_ptr() + 32, "of an empty view at the end"
    assert argument("*fp32", [0], held) == 0
    with pytest.raises(Unfit, match="nobody has made"):
        argument("*fp32", [SECOND + 33], held)


def test_arguments_keep_their_structure():
    held = {FIRST: bytes_of(torch.zeros(8))}
    kinds, told = ["*fp32", "constexpr", ["i32", "fp32"]], [FIRST, 7, {"float": (0.5).hex()}]
    assert argument(kinds, told, held) == (held[FIRST].data_ptr(), None, (7, 0.5))


def test_descriptor_is_of_the_memory_as_it_lies_now():
    content = torch.arange(64.0).reshape(8, 8)
    told = {"descriptor": FIRST, "shape": [8, 8], "strides": [8, 1], "nan": False, "tf32": False}
    made = argument("tensordesc<fp32[4, 8]>", [told], {FIRST: bytes_of(content)})
    assert (made.base.data_ptr(), made.block_shape, made.strides) == (content.data_ptr(), [4, 8], [8, 1])
    assert torch.equal(made.base, content)


@pytest.mark.parametrize(
    "name, dtype", [("bf16", "bfloat16"), ("fp8e4nv", "float8_e4m3fn"), ("i1", "bool"), ("u8", "uint8")]
)
def test_dtypes_of_descriptors_are_found(name, dtype):
    assert on_gpu._long(name) == dtype


def test_addresses_that_cannot_be_replaced_are_refused():
    held = {FIRST: bytes_of(torch.zeros(8)), SECOND: bytes_of(torch.tensor([FIRST + 4, 3]))}
    with pytest.raises(Unfit, match="table of addresses"):
        argument("i32", [3], held, [SECOND])
    with pytest.raises(Unfit, match="given as a number"):
        argument("i64", [FIRST + 4], held)
    assert argument("i64", [FIRST - 4], held, [FIRST]) == FIRST - 4


def test_what_a_gpu_makes_again_may_be_rounded_otherwise():
    made = torch.tensor([1.0, -50.0, float("inf"), float("nan")])
    assert origin._is_near(made * 1.001, made)
    assert not origin._is_near(made, torch.tensor([1.0, -50.0, 3.0, float("nan")]))
    assert not origin._is_near(torch.zeros(4), torch.ones(4))
    assert not origin._is_near(torch.tensor([1, 2]), torch.tensor([1, 3]))
