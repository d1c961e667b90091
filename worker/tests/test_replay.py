"""Calls are recorded, and made again on other values by what has nothing of whoever made them."""

import ctypes

import numpy as np
import pytest
import torch

from kbx.executor.replay import Elsewhere, Executed, Given, Records, Replay, Unfit
from kbx.runner import trace

BASE = 4096


class Recorder:
    """Records calls as a runner does, without launches."""

    def __init__(self):
        self.records, self.lent = Records(), {}

    def call(self, function, *tensors):
        """The function's results on copies of these tensors, which are the arguments."""
        given = [t.clone() for t in tensors]
        self.records.begin()
        made = trace.Trace(given, self.keep)
        with trace.recording(made):
            result = function(*given)
        made.take(result)
        self.lent = {t.untyped_storage().data_ptr(): t for t in given}
        self.records.add({"record": made.steps, "results": made.results, "gap": made.gap}, list(self.lent))
        self.kept = given
        return result

    def keep(self, address, length, device):
        self.records.keep(address, torch.frombuffer(bytearray(ctypes.string_at(address, length)), dtype=torch.uint8))

    def again(self, *tensors, asked=()):
        """The replay of the last call on other arguments."""
        values = {at: bytes_of(t) for at, t in zip(self.lent, tensors, strict=True)}
        given = [of(at, t) for at, t in zip(self.lent, tensors, strict=True)]
        record = self.records.find(0, values)
        made = Replay(record, values, given, frozenset(asked), 0, Executed(no_launch, lambda number: True))
        made.run()
        return made


def of(at, tensor):
    return Given(at, 0, list(tensor.shape), list(tensor.stride()), str(tensor.dtype).removeprefix("torch."))


def no_launch(message, memory, seed):
    raise AssertionError("nothing was launched")


def bytes_of(tensor):
    return tensor.contiguous().view(-1).view(torch.uint8).clone()


OLDER = torch.arange(12.0)
"""There before any call."""


def out_of_place(x, y):
    return torch.cat([x.t().contiguous().view(-1), (x * 2 + y).sum(1)])[3:]


def in_place(x, y):
    z = torch.empty_like(x)
    z.copy_(y)
    z[1:].add_(x[:-1], alpha=2)
    z.fill_diagonal_(0)
    return z, z.max(0).indices


def given_a_place(x, y):
    out = torch.empty(0)
    torch.add(x, y, out=out)
    x.mul_(y)
    return out, x


def of_older_memory(x, y):
    return x + OLDER.view(3, 4) * y


def indexed(x, y):
    order = y.argsort(dim=1)
    picked = x.gather(1, order)
    picked[order > 1] = -1.5
    return {"picked": picked.to(torch.float16), "first": [picked[:, 0]]}


@pytest.mark.parametrize("function", [out_of_place, in_place, given_a_place, of_older_memory, indexed])
def test_replay_makes_the_result_of_other_values(function):
    torch.manual_seed(0)
    recorder = Recorder()
    recorder.call(function, torch.randn(3, 4), torch.randn(3, 4))
    other = torch.randn(3, 4), torch.randn(3, 4)
    expected = trace.tensors_in(function(*(t.clone() for t in other)))
    for made, wanted in zip(recorder.again(*other).results(), expected, strict=True):
        torch.testing.assert_close(made, wanted, rtol=0, atol=0)


def test_replay_leaves_arguments_as_the_call_does():
    recorder = Recorder()
    recorder.call(lambda x: x.mul_(2)[:0], torch.ones(5))
    (after,) = recorder.again(torch.full((5,), 3.0)).arguments()
    assert after.view(torch.float32).tolist() == [6.0] * 5


@pytest.mark.parametrize(
    "elsewhere",
    [
        lambda x: torch.from_numpy(np.cos(x.numpy())),
        lambda x: torch.full((4,), x[0].item()),
        lambda x: torch.full((4,), float(x.sum().numpy())),
    ],
    ids=["numpy", "a number read", "a number of numpy's"],
)
def test_what_is_computed_elsewhere_is_missing(elsewhere):
    recorder = Recorder()
    recorder.call(elsewhere, torch.tensor([1.0, 2.0, 3.0, 4.0]))
    values = torch.tensor([5.0, 6.0, 7.0, 9.0])
    (made,) = recorder.again(values).results()
    assert not torch.allclose(made, elsewhere(values))


def test_operation_that_raises_is_not_made_again():
    def raises(x):
        y = x.clone()
        with pytest.raises(RuntimeError):
            torch._foreach_cos_([y, torch.zeros(1, dtype=torch.int64)])
        return y

    recorder = Recorder()
    result = recorder.call(raises, torch.ones(3))
    assert torch.equal(result, torch.ones(3).cos())
    assert torch.equal(recorder.again(torch.ones(3)).results()[0], torch.ones(3))


def test_account_is_kept_by_the_replay():
    recorder = Recorder()
    recorder.call(lambda x: x.clone().cos(), torch.ones(64))
    account = recorder.again(torch.ones(64), asked=["cos"]).account
    assert (account["launches"], account["own"], account["foreign"]) == (0, 0, 128)
    assert [operation["name"] for operation in account["operations"]] == ["torch.cos"]


def test_reads_are_counted():
    recorder = Recorder()
    recorder.call(lambda x: x * x[1].item() + float(x.sum()), torch.ones(3))
    assert recorder.again(torch.ones(3)).reads == 2


def test_reads_of_arguments_that_are_one_number_are_told_apart():
    recorder = Recorder()
    recorder.call(
        lambda x, at: x.sum() * float(at) + float(at.double() + 1) + float(x[0]), torch.ones(3), torch.ones(())
    )
    again = recorder.again(torch.ones(3), torch.ones(()))
    assert (again.reads, again.numbers) == (3, 2)


def test_result_whose_shape_depends_on_values_cannot_be_made_of_others():
    recorder = Recorder()
    recorder.call(lambda x: x[x > 0], torch.tensor([1.0, -1.0, 2.0]))
    assert recorder.again(torch.tensor([3.0, -1.0, 2.0])).results()[0].tolist() == [3.0, 2.0]
    with pytest.raises(Unfit, match="another shape"):
        recorder.again(torch.tensor([3.0, 1.0, 2.0]))


@pytest.mark.parametrize(
    "function, why",
    [
        (lambda x: x.to_sparse().to_dense(), "sparse"),
        (lambda x: torch.complex(x, x).conj() + 1, "conjugated"),
        (lambda x: x + LARGE[0], "64 MiB"),
        (lambda x: torch.Tensor._make_wrapper_subclass(Wrapper, x.shape).detach() is None or x + 1, "storage"),
    ],
)
def test_what_is_not_recorded_is_said(function, why):
    recorder = Recorder()
    recorder.call(function, torch.ones(3))
    with pytest.raises(Unfit, match=why):
        recorder.again(torch.ones(3))


OWN = torch.Generator().manual_seed(5)


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: torch.rand(5),
        lambda x: x.bernoulli(0.5),
        lambda x: torch.empty(5).normal_(generator=OWN),
        lambda x: torch.randperm(7, generator=OWN),
    ],
    ids=["rand", "of a tensor", "own generator", "permutation"],
)
def test_random_numbers_are_drawn_again(draw):
    recorder = Recorder()
    drawn = [recorder.call(draw, torch.ones(5)) for _ in range(2)]
    assert not torch.equal(*drawn)
    torch.rand(11)
    assert torch.equal(recorder.again(torch.ones(5)).results()[0], drawn[1])


class Wrapper(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return None


LARGE = torch.zeros((64 << 18) + 1)


@pytest.mark.parametrize(
    "step", [{"operation": "aten.set_.source_Tensor", "args": [], "kwargs": {}, "made": []}, {"strange": 1}]
)
def test_records_that_no_runner_makes_are_refused(step):
    records = Records()
    records.begin()
    records.add({"record": [step], "results": [], "gap": None}, [])
    with pytest.raises(Unfit):
        Replay(records.find(0, []), {}, [], frozenset(), 0, Executed(no_launch, bool)).run()


def test_unrecorded_call_is_unfit_and_one_before_it_elsewhere():
    recorder = Recorder()
    recorder.call(lambda x: x + 1, torch.ones(3))
    lent = list(recorder.lent)
    recorder.records.begin()
    with pytest.raises(Unfit, match="not recorded"):
        recorder.records.find(1, lent)
    recorder.call(lambda x: x + 1, torch.ones(3))
    with pytest.raises(Elsewhere):
        recorder.records.find(1, lent)


def test_fractions_that_a_call_reads_are_told():
    recorder = Recorder()
    recorder.call(lambda x: [x.sum().item(), x[0] + 1, int(x[1])], torch.ones(3))
    told = recorder.again(torch.tensor([1.5, 2.0, 3.0])).counts()
    assert (told["reads"], told["scalars"]) == (2, [(6.5).hex(), (2.0).hex()])
