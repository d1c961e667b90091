"""Lanes and memory that nobody has defined: what depends on them is told, what selects them away is not."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from ttir_launch import line_of, only, run

from kbx.ttir import launch


def randn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3))


@triton.jit
def reduced_kernel(x, out, n, HOW: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    m = i < n
    v = tl.load(x + tl.program_id(0) * n + i, mask=m)
    if HOW == "sum":
        r = tl.sum(v, 0)
    elif HOW == "argmax":
        r = tl.argmax(v, 0).to(tl.float32)
    elif HOW == "sum of exponentials":
        r = tl.sum(tl.exp(v), 0)
    elif HOW == "count":
        r = tl.sum((v > 0).to(tl.int32), 0).to(tl.float32)
    elif HOW == "times the mask":
        r = tl.sum(v * m.to(tl.float32), 0)
    elif HOW == "sorted":
        r = tl.sum(tl.where(i == 0, tl.sort(v), 0.0), 0)
    elif HOW == "last of a scan":
        r = tl.sum(tl.where(i == B - 1, tl.cumsum(v, 0), 0.0), 0)
    elif HOW == "bits":
        r = tl.max(v.to(tl.int32, bitcast=True), 0).to(tl.float32)
    elif HOW == "where":
        r = tl.sum(tl.where(m, v, 0.0), 0)
    elif HOW == "where after exp":
        r = tl.sum(tl.where(m, tl.exp(v), 0.0), 0)
    elif HOW == "first of a scan":
        r = tl.sum(tl.where(i < n, tl.cumsum(v, 0), 0.0), 0)
    elif HOW == "max of what is selected":
        r = tl.max(tl.where(m, v, float("-inf")), 0)
    tl.store(out + tl.program_id(0), r)


@pytest.mark.parametrize(
    "how",
    ["sum", "argmax", "sum of exponentials", "count", "times the mask", "sorted", "last of a scan", "bits"],
)
def test_reductions_over_lanes_that_were_not_loaded(how):
    """Told, and the result is another one for one of three seeds at least: it is wrong in some call."""
    results = []
    for seed in range(3):
        out = torch.zeros(2)
        found = only(
            run(reduced_kernel, (2,), randn(2, 13), out, 13, seed=seed, HOW=how, B=16),
            "undefined",
            reduced_kernel,
            "tl.store(out",
        )
        results.append(str(out.tolist()))
        assert found.program in (None, (0, 0, 0)) and found.argument == "out"
    assert len(set(results)) > 1


@triton.jit
def extreme_kernel(x, out, n, HOW: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out, tl.min(v, 0) if HOW == "min" else tl.max(v, 0))


@pytest.mark.parametrize("how", ["min", "max"])
@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
def test_extremes_of_integers_that_were_not_loaded(dtype, how):
    """No such lane is the largest, or the smallest, in every call."""
    x, results = torch.arange(-40, 41, 8).to(dtype), set()
    for seed in range(3):
        out = torch.zeros(1, dtype=dtype)
        only(
            run(extreme_kernel, (1,), x, out, len(x), seed=seed, HOW=how, B=16), "undefined", extreme_kernel, "tl.store"
        )
        results.add(out.item())
    assert results - {x.min().item() if how == "min" else x.max().item()}


@pytest.mark.parametrize("how", ["where", "where after exp", "first of a scan", "max of what is selected"])
def test_lanes_that_are_selected_away(how):
    assert run(reduced_kernel, (2,), randn(2, 13), torch.zeros(2), 13, HOW=how, B=16) == []


@triton.jit
def product_kernel(a, b, out, K, SELECT: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, K, B):
        k = start + i
        left = tl.load(a + i[:, None] * K + k[None, :], mask=k[None, :] < K)
        right = tl.load(b + k[:, None] * B + i[None, :], mask=k[:, None] < K, other=0.0)
        if SELECT:
            left = tl.where(k[None, :] < K, left, 0.0)
        acc = tl.dot(left, right, acc, input_precision="ieee")
    tl.store(out + i[:, None] * B + i[None, :], acc)


def test_products_with_a_tail():
    """Zero times what is undefined is no zero: it may be NaN."""
    a, b, out = randn(16, 40), randn(40, 16), torch.zeros(16, 16)
    only(run(product_kernel, (1,), a, b, out, 40, seed=1, SELECT=False, B=16), "undefined", product_kernel, "tl.store")
    assert out.isnan().any()
    assert run(product_kernel, (1,), a, b, out, 40, seed=1, SELECT=True, B=16) == []
    torch.testing.assert_close(out, a @ b)


@triton.jit
def carried_kernel(x, out, n, turns, B: tl.constexpr):
    i = tl.arange(0, B)
    largest = tl.full((B,), float("-inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    for turn in range(turns):
        at = turn * B + i
        v = tl.load(x + at, mask=at < n)
        largest = tl.maximum(largest, v)
        total += tl.where(at < n, v, 0.0)
    tl.store(out + i, total)
    tl.store(out + B + tl.arange(0, 1), tl.max(largest, 0))


def test_lanes_that_a_loop_carries():
    x = randn(28)
    found = only(
        run(carried_kernel, (1,), x, torch.zeros(17), 28, 2, B=16), "undefined", carried_kernel, "tl.store(out + B"
    )
    assert found.argument == "out"
    assert run(carried_kernel, (1,), randn(32), torch.zeros(17), 32, 2, B=16) == []


@triton.jit
def address_kernel(x, index, out, n, SAME_MASK: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    at = tl.load(index + i, mask=i < n)
    if SAME_MASK:
        tl.store(out + i, tl.load(x + at, mask=i < n, other=0.0), mask=i < n)
    else:
        tl.store(out + i, tl.load(x + at), mask=i < n)


def test_lanes_used_as_addresses():
    x, index, out = randn(32), torch.arange(13), torch.zeros(13)
    assert run(address_kernel, (1,), x, index, out, 13, SAME_MASK=True, B=16) == []
    findings = run(address_kernel, (1,), x, index, out, 13, SAME_MASK=False, B=16)
    assert {f.kind for f in findings} == {"undefined", "out_of_bounds"}
    assert {f.line for f in findings} == {line_of(address_kernel, "tl.load(x + at), mask")}


@triton.jit
def masked_by_it_kernel(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v, mask=v > 0)


def test_lanes_used_as_a_mask():
    found = only(
        run(masked_by_it_kernel, (1,), randn(13).abs(), torch.zeros(16), 13, B=16),
        "undefined",
        masked_by_it_kernel,
        "tl.store",
    )
    assert "mask" in found.text


def test_lanes_masked_by_both():
    @triton.jit
    def both_kernel(x, out, n, B: tl.constexpr):
        i = tl.arange(0, B)
        v = tl.load(x + i, mask=i < n)
        tl.store(out + i, v, mask=(v > 0) & (i < n))

    assert run(both_kernel, (1,), randn(13), torch.zeros(16), 13, B=16) == []


@triton.jit
def looped_by_it_kernel(x, out, n):
    p = tl.program_id(0)
    turns = tl.load(x + p, mask=p < n)
    total = 0
    for _ in range(turns):
        total += 1
    tl.store(out + p, total, mask=p < n)


def test_lanes_used_as_the_end_of_a_loop(monkeypatch):
    """The garbage of an int32 is large: this one is kept small, as the loop runs as often."""
    monkeypatch.setattr(launch.Launch, "_make_garbage", lambda self, element: np.array([5], element.raw))
    x = torch.tensor([1, 2, 3], dtype=torch.int32)
    found = only(
        run(looped_by_it_kernel, (4,), x, torch.zeros(4, dtype=torch.int32), 3),
        "undefined",
        looped_by_it_kernel,
        "for _ in",
    )
    assert found.program == (3, 0, 0)


@triton.jit
def updated_kernel(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.atomic_add(out, tl.sum(v, 0))
    tl.atomic_add(out + 1 + i, v, mask=i < n)


def test_lanes_added_atomically():
    found = only(
        run(updated_kernel, (1,), randn(13), torch.zeros(17), 13, B=16),
        "undefined",
        updated_kernel,
        "tl.atomic_add(out, ",
    )
    assert found.argument == "out"


@triton.jit
def histogram_kernel(x, out, n, MASK: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    h = tl.histogram(v, 16, mask=i < n) if MASK else tl.histogram(v, 16)
    tl.store(out + tl.arange(0, 16), h)


def test_histogram_of_a_tail():
    x = torch.randint(0, 16, (13,), generator=torch.Generator().manual_seed(1), dtype=torch.int32)
    out = torch.zeros(16, dtype=torch.int32)
    assert run(histogram_kernel, (1,), x, out, 13, MASK=True, B=16) == []
    only(run(histogram_kernel, (1,), x, out, 13, MASK=False, B=16), "undefined", histogram_kernel, "tl.store")


@triton.jit
def other_kernel(x, y, out, n, B: tl.constexpr):
    """The other value is undefined itself, where both masks are false."""
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=tl.load(y + i, mask=i < n + 2))
    tl.store(out, tl.sum(v, 0))


def test_other_value_that_is_undefined():
    only(run(other_kernel, (1,), randn(13), randn(15), torch.zeros(1), 13, B=16), "undefined", other_kernel, "tl.store")
    assert run(other_kernel, (1,), randn(14), randn(16), torch.zeros(1), 14, B=16) == []


@triton.jit
def shuffled_kernel(x, out, n, B: tl.constexpr):
    """Lanes move: those that are undefined come together with others."""
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.flip(v, 0), mask=i < n)


def test_lanes_that_move():
    found = only(
        run(shuffled_kernel, (1,), randn(13), torch.zeros(13), 13, B=16), "undefined", shuffled_kernel, "tl.store"
    )
    assert found.argument == "out"


@triton.jit
def assumed_kernel(x, out, n, B: tl.constexpr):
    tl.assume(n % 16 == 0)
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


def test_assumption_that_does_not_hold():
    assert run(assumed_kernel, (2,), randn(32), torch.zeros(32), 32, B=16) == []
    found = only(
        run(assumed_kernel, (2,), randn(30), torch.zeros(30), 30, B=16), "assertion", assumed_kernel, "tl.assume"
    )
    assert found.text == "an assumption does not hold"


# ---------------------------------------------------------------- memory that nobody has written


def blank(*shape, dtype=torch.float32, filler=0x7B):
    """A tensor as ``torch.empty`` gives it to a candidate."""
    tensor = torch.empty(shape, dtype=dtype)
    tensor.untyped_storage().fill_(filler)
    return tensor


@triton.jit
def accumulated_kernel(x, acc, n, HOW: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    if HOW == "atomic":
        tl.atomic_add(acc + i, v, mask=i < n)
    elif HOW == "loaded":
        tl.store(acc + i, tl.load(acc + i, mask=i < n) + v, mask=i < n)
    elif HOW == "exchanged":
        tl.atomic_xchg(acc + i, v, mask=i < n)
    elif HOW == "exchanged and used":
        tl.store(acc + i, tl.atomic_xchg(acc + i, v, mask=i < n), mask=i < n)
    elif HOW == "stored":
        tl.store(acc + i, v, mask=i < n)
    elif HOW == "stored and read":
        tl.store(acc + i, v, mask=i < n)
        tl.debug_barrier()
        tl.store(acc + i, tl.load(acc + i, mask=i < n) * 2, mask=i < n)


FILLED = [
    (torch.float32, 0xFF), (torch.float32, 0x7B), (torch.float32, 0xFB), (torch.float64, 0xFF), (torch.float16, 0xFF), (torch.bfloat16, 0xFB),
    (torch.int32, 0x7B), (torch.int64, 0xFB),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "filler"), FILLED)
@pytest.mark.parametrize(
    ("how", "line", "verb"), [("atomic", "tl.atomic_add", "updates"), ("loaded", "tl.load(acc", "reads")]
)
def test_sums_in_memory_that_nobody_has_set(dtype, filler, how, line, verb):
    x, acc = torch.ones(20, dtype=dtype), blank(20, dtype=dtype, filler=filler)
    found = only(
        run(accumulated_kernel, (2,), x, acc, 20, filler=filler, HOW=how, B=16), "undefined", accumulated_kernel, line
    )
    assert found.text == f"{verb} what nobody has written to acc, 20 lanes"
    assert found.argument == "acc" and found.program == (0, 0, 0)


@pytest.mark.parametrize(("dtype", "filler"), FILLED)
@pytest.mark.parametrize("how", ["stored", "stored and read"])
def test_results_that_are_written_first(dtype, filler, how):
    x, acc = torch.ones(20, dtype=dtype), blank(20, dtype=dtype, filler=filler)
    assert run(accumulated_kernel, (2,), x, acc, 20, filler=filler, HOW=how, B=16) == []


def test_exchange_of_what_nobody_has_written():
    """It reads nothing, unless somebody uses what was there."""
    x = torch.ones(20)
    assert run(accumulated_kernel, (2,), x, blank(20), 20, filler=0x7B, HOW="exchanged", B=16) == []
    findings = run(accumulated_kernel, (2,), x, blank(20), 20, filler=0x7B, HOW="exchanged and used", B=16)
    assert [f.text for f in findings] == ["updates what nobody has written to acc, 20 lanes"]


def test_minus_one_may_have_been_written():
    """It looks as memory that was filled with ones does."""
    x, acc = torch.ones(20, dtype=torch.int32), torch.full((20,), -1, dtype=torch.int32)
    assert run(accumulated_kernel, (2,), x, acc, 20, filler=0xFF, HOW="loaded", B=16) == []


@triton.jit
def workspace_kernel(x, parts, out, n, PARTS: tl.constexpr, B: tl.constexpr):
    p, i = tl.program_id(0), tl.arange(0, B)
    tl.store(parts + p, tl.sum(tl.load(x + p * B + i, mask=p * B + i < n, other=0.0), 0))


@triton.jit
def parts_kernel(parts, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out, tl.sum(tl.load(parts + i, mask=i < n, other=0.0), 0))


def test_workspace_of_which_a_part_is_written():
    x, parts, out = randn(60), blank(8), blank(1)
    assert run(workspace_kernel, (4,), x, parts, out, 60, filler=0x7B, PARTS=8, B=16) == []
    assert run(parts_kernel, (1,), parts, out, 4, filler=0x7B, B=8) == []
    found = only(run(parts_kernel, (1,), parts, out, 8, filler=0x7B, B=8), "undefined", parts_kernel, "tl.store(out")
    assert found.argument == "parts" and found.lanes == 4
