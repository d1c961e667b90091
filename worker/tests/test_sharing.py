"""Arguments that share memory: one tensor twice, a slot beside its cache, parts of one product."""

import pytest
import torch
from bench_client import HostArena, bench
from test_own_references import own  # noqa: F401 -- a fixture

from kbx.oracle import controls, judge, session, truth
from kbx.oracle.plan import plan
from kbx.suite import Call, Inputs
from kbx.suite.drawn import VARIATIONS, varied
from kbx.suite.sharing import changed, shared

QKV = torch.arange(24.0).view(4, 6)
CACHE = torch.arange(12.0).view(3, 4)
BITS = torch.arange(6.0)


def groups(*found):
    return [[[t is f for f in found].index(True) for t in memory.members] for memory in shared(found)]


@pytest.mark.parametrize(
    ("found", "together"),
    [
        ([CACHE, CACHE], [[0, 0]]),
        ([CACHE[1], CACHE], [[1, 0]]),
        ([CACHE[0], CACHE[1]], []),
        ([QKV[:, :2], QKV[:, 2:4], QKV[:, 4:]], [[0, 1, 2]]),
        ([CACHE[:2], CACHE[1:], CACHE.clone()], [[0, 1]]),
        ([BITS, BITS.view(torch.int32)], [[0, 1]]),
        ([CACHE[:0], CACHE[:0]], []),
        ([torch.ones(1).expand(5), torch.ones(5)], []),
    ],
)
def test_tensors_that_overlap_share_memory_and_those_that_lie_apart_do_not(found, together):
    assert groups(*found) == together


@pytest.mark.parametrize(
    "call",
    [
        Call((CACHE, CACHE)),
        Call((CACHE[1],), {"cache": CACHE, "other": torch.ones(3)}),
        Call(([QKV[:, :2], QKV[:, 2:4]],), {"v": QKV[:, 4:]}),
        Call((BITS[1:], BITS[1:].view(torch.int32)[2:], BITS[:4])),
        Call((CACHE[0].expand(3, 4), CACHE)),
    ],
)
def test_copies_share_memory_as_the_originals_do(call):
    copied = truth.copy_call(call)
    before, after = truth.argument_tensors(call), truth.argument_tensors(copied)
    for one, other in zip(before, after, strict=True):
        assert one.stride() == other.stride()
        assert judge.equal_bits(one, other)
    assert not {t.untyped_storage().data_ptr() for t in before} & {t.untyped_storage().data_ptr() for t in after}
    reach = [m.nbytes for m in shared(before)]
    assert [m.nbytes for m in shared(after)] == reach
    last = truth.argument_tensors(truth.copy_call(call))
    places = [t.data_ptr() - after[0].data_ptr() for t in after]
    assert [t.data_ptr() - last[0].data_ptr() for t in last][:2] == places[:2]


def test_the_same_tensor_is_one_tensor_in_a_copy():
    args = truth.copy_call(Call((CACHE, CACHE))).args
    assert args[0] is args[1]


def test_changes_reach_every_view():
    doubled = changed((CACHE[1], CACHE), lambda leaf: leaf * 2)
    assert torch.equal(doubled[1], CACHE * 2)
    doubled[1][1, 2] = -1
    assert doubled[0][2] == -1


@pytest.mark.parametrize("variation", VARIATIONS)
def test_variations_share_memory_as_the_call_does(variation):
    call = Call((CACHE[1], CACHE), {"x": torch.rand(4, 5)})
    other = varied(call, variation, Inputs(seed="1"))
    other.args[1][1, 2] = 77
    assert other.args[0][2] == 77
    assert not judge.equal_bits(other.kwargs["x"], call.kwargs["x"]) or not other.kwargs["x"].is_contiguous()


def test_what_shares_memory_is_not_laid_out_in_another_way():
    assert varied(Call((CACHE, CACHE)), "non_contiguous", Inputs(seed="1")) is None


@pytest.mark.parametrize(
    "call", [Call((QKV[:, :2], QKV[:, 3:5])), Call((CACHE[0, 1:], CACHE[:, 1])), Call((BITS[1:], BITS[2:]))]
)
def test_lent_tensors_share_memory_and_what_lies_around_them_is_filled_and_watched(call):
    arena = HostArena("in", 1 << 16)
    arena.put(torch.ones(3))
    _, _, leaves = session.lend(call, arena)
    regions = {}
    views = [arena.view(leaf, regions) for leaf in leaves]
    for view, original in zip(views, call.args, strict=True):
        assert judge.equal_bits(view, original)
        assert view.data_ptr() % 16 == original.data_ptr() % 16 or not view.is_contiguous()
    assert len({view.untyped_storage().data_ptr() for view in views}) == 1
    assert views[0].untyped_storage().nbytes() == leaves[0]["base"][1]
    assert not any(session._changed_around(arena, leaf, leaves) for leaf in leaves)
    whole = regions[leaves[0]["base"][0]]
    for view in views:
        view.fill_(0)
    assert not session._changed_around(arena, leaves[0], leaves)
    fillers = (whole == arena.filler).nonzero()
    if len(fillers):
        whole[fillers[0]] = 1
        assert session._changed_around(arena, leaves[0], leaves)


SLOT = """
import torch


def inputs():
    cache = torch.randn(5, 4, 8)
    return cache[2], cache, torch.randn(4, 8)


def f(slot, cache, x):
    slot.copy_(x * 2)
    return cache.sum(0)
"""
SELF = "import torch\ndef inputs():\n    x = torch.randn(6, 8)\n    return x, x\ndef f(x, out):\n    out.mul_(2)\n    return x + 1\n"
PARTS = """
import torch


def inputs():
    qkv = torch.randn(7, 24)
    return qkv[:, :8], qkv[:, 8:16], qkv[:, 16:]


def f(q, k, v):
    return torch.softmax(q @ k.T, -1) @ v
"""


@pytest.mark.parametrize(("text", "mutates"), [(SLOT, ("slot", "cache")), (SELF, ("x", "out")), (PARTS, ())])
def test_an_argument_that_overlaps_an_updated_one_is_updated_too(own, text, mutates):  # noqa: F811
    task = own(text)
    assert sorted(task.mutates) == sorted(mutates)
    known = truth.know(task, task.call(task.cases[0], "drawn", "1"), "1")
    if text is SLOT:
        slot, cache, x = known.call.args
        total = cache.sum(0) - slot + 2 * x
        torch.testing.assert_close(known.expected["output"], total)
        torch.testing.assert_close(known.truth["output"], total.double(), rtol=1e-5, atol=1e-5)
        assert known.truth["output"].dtype == torch.float64


def test_the_bits_of_an_updated_argument_are_not_compared_beside_it(own):  # noqa: F811
    body = "import torch\ndef inputs():\n    x = torch.randn(6, 8)\n    return x, x.view(torch.int32)\ndef f(x, bits):\n    x.exp_()\n"
    task = own(body)
    assert task.mutates == ("x",)
    assert task.may_change("bits")
    known = truth.know(task, task.call(task.cases[0], "drawn", "1"), "1")
    mine = truth.copy_call(known.call)
    mine.args[0].exp_().mul_(1 + 2**-23)
    examined = judge.examine_own(task, known, None, mine)
    assert judge.decide_both(task, known, [examined.value]).status == examined.status == "correct"


@pytest.mark.parametrize("text", [SLOT, SELF, PARTS])
def test_the_reference_passes_on_arguments_that_share_memory(own, text):  # noqa: F811
    rows = controls.verify(own(text), "7", torch.device("cpu"))
    assert [row["name"] for row in rows if not row["ok"]] == []


def test_a_candidate_gets_arguments_that_share_memory():
    source = """
    def run(slot, cache, again):
        slot += 1
        return cache.sum(), slot.untyped_storage().data_ptr() == cache.untyped_storage().data_ptr(), again is cache, cache[0].sum()
    """
    cache = torch.zeros(3, 4)
    with bench(source) as client:
        assert client.run(cache[1], cache, cache) == (4, True, True, 0)


ROWS = """
@triton.jit
def kernel(q, k, y, STEP: tl.constexpr):
    c = tl.arange(0, 8)
    tl.store(y + c, tl.load(q + STEP + c) + tl.load(k + c))

def run(q, k):
    y = torch.empty(8, device=q.device)
    kernel[(1,)](q, k, y, STEPS)
    return y
"""


@pytest.mark.parametrize(("step", "found"), [(8, None), (32, "out_of_bounds"), (-8, "out_of_bounds")])
def test_a_kernel_may_reach_what_its_arguments_share_and_nothing_else(step, found):
    both = torch.arange(16.0).view(1, 16).expand(2, 16).contiguous()
    q, k = both[:, :8], both[:, 8:]
    with bench(ROWS.replace("STEPS", str(step))) as client:
        reply = client.call(q, k)
        told = client.found()
        assert (told and told[0]) == found
        if found is None:
            assert torch.equal(client.result(reply), 2 * k[0])
    with bench(ROWS.replace("STEPS", "24")) as client:
        client.call(q.clone(), k.clone())
        assert client.found()[0] == "out_of_bounds"


def test_calls_without_shared_memory_are_lent_as_ever(own):  # noqa: F811
    task = own(
        "import torch\ndef inputs():\n    return torch.randn(6, 8), torch.randn(8)\ndef f(x, y):\n    return x + y\n"
    )
    _, _, leaves = session.lend(plan(task, "7")[0].made(task, "cpu"), HostArena("in", 1 << 16))
    assert all("base" not in leaf and leaf["offset"] % 512 == 0 for leaf in leaves)
