"""Programs that touch the same elements: races of each kind, and honest kernels that come near. Those are never accused, in any order."""

import inspect

import pytest
import torch
import triton
import triton.language as tl
from ttir_launch import line_of, run

ORDERS = ("ascending", "reversed", "shuffled")


def randn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3))


def ints(*shape, value=0):
    return torch.full(shape, value, dtype=torch.int32)


def accused(function, text, argument, grid, *arguments, **given):
    """A race at one of these lines about this argument is found in the usual order, and nothing else in any."""
    source, first = inspect.getsourcelines(function.fn)
    texts = text if isinstance(text, tuple) else (text,)
    lines = {first + number for number, line in enumerate(source) if any(each in line for each in texts)}
    for order in ORDERS:
        fresh = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
        findings = run(function, grid, *fresh, order=order, **given)
        assert findings or order != ORDERS[0], order
        assert {f.kind for f in findings} <= {"race"}, (order, [str(f) for f in findings])
        assert {f.line for f in findings} <= lines, (order, [str(f) for f in findings])
        assert {f.argument for f in findings} <= {argument}


def honest(function, grid, *arguments, check=lambda *results: None, **given):
    """Nothing is found in any order, and ``check`` holds of the arguments afterwards."""
    for order in ORDERS:
        fresh = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
        assert run(function, grid, *fresh, order=order, **given) == [], order
        check(*fresh)


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


# ---------------------------------------------------------------- without atomics


@triton.jit
def column_sums_kernel(x, out, n, ATOMIC: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=0.0)
    if ATOMIC:
        tl.atomic_add(out + i, v, mask=i < n)
    else:
        old = tl.load(out + i, mask=i < n)
        tl.store(out + i, old + v, mask=i < n)


def test_sums_by_load_and_store():
    x = randn(6, 13)
    accused(column_sums_kernel, ("old =", "tl.store"), "out", (6,), x, torch.zeros(13), 13, ATOMIC=False, B=16)
    honest(
        column_sums_kernel,
        (6,),
        x,
        torch.zeros(13),
        13,
        ATOMIC=True,
        B=16,
        check=lambda x, out, n: close(out, x.sum(0)),
    )


@triton.jit
def counts_kernel(x, out, n, HOW: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    if HOW == "atomic":
        tl.atomic_add(out + v, 1, mask=i < n)
    elif HOW == "histogram":
        tl.atomic_add(out + tl.arange(0, 16), tl.histogram(v, 16, mask=i < n))
    elif HOW == "load and store":
        tl.store(out + v, tl.load(out + v, mask=i < n) + 1, mask=i < n)
    elif HOW == "histogram stored":
        at = out + tl.arange(0, 16)
        tl.store(at, tl.load(at) + tl.histogram(v, 16, mask=i < n))


@pytest.mark.parametrize("how", ["atomic", "histogram"])
def test_counts(how):
    x = torch.randint(0, 16, (50,), generator=torch.Generator().manual_seed(1), dtype=torch.int32)

    def check(x, out, n):
        assert torch.equal(out, torch.bincount(x, minlength=16).int())

    honest(counts_kernel, (4,), x, ints(16), 50, HOW=how, B=16, check=check)


@pytest.mark.parametrize(("how", "line"), [("load and store", "tl.store(out + v"), ("histogram stored", "tl.store(at")])
def test_counts_that_get_lost(how, line):
    x = torch.randint(0, 16, (50,), generator=torch.Generator().manual_seed(1), dtype=torch.int32)
    accused(counts_kernel, line, "out", (4,), x, ints(16), 50, HOW=how, B=16)


def test_a_race_is_told_with_both_lines():
    out = torch.zeros(13)
    (found,) = run(column_sums_kernel, (6,), randn(6, 13), out, 13, ATOMIC=False, B=16)
    line = line_of(column_sums_kernel, "old =")
    assert found.line == line + 1 and found.lanes == 78
    assert found.text == f"writes out[0], which another program reads in line {line}"


@triton.jit
def duplicates_kernel(x, out, n, B: tl.constexpr):
    """Lanes of one program that write to one element."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i // 2, tl.load(x + i, mask=i < n), mask=i < n)


def test_lanes_of_one_program_that_write_one_element():
    accused(duplicates_kernel, "tl.store", "out", (2,), randn(32), torch.zeros(16), 32, B=16)
    accused(duplicates_kernel, "tl.store", "out", (1,), randn(16), torch.zeros(8), 16, B=16)
    honest(duplicates_kernel, (1,), torch.ones(16), torch.zeros(8), 16, B=16)


@triton.jit
def row_in_place_kernel(x, n, HALVES: tl.constexpr, B: tl.constexpr):
    """A row's sum is read by two programs, each of which writes half of the row."""
    row, half = tl.program_id(0), tl.program_id(1)
    i = tl.arange(0, B)
    total = tl.sum(tl.load(x + row * n + i, mask=i < n, other=0.0), 0)
    mine = (i < n) & (i // (B // HALVES) == half)
    tl.store(x + row * n + i, tl.load(x + row * n + i, mask=mine) / total, mask=mine)


def test_rows_in_place():
    x = randn(5, 16).abs()
    accused(row_in_place_kernel, "tl.store", "x", (5, 2), x, 16, HALVES=2, B=16)
    honest(row_in_place_kernel, (5, 1), x, 16, HALVES=1, B=16, check=lambda x, n: close(x.sum(1), torch.ones(5)))


@triton.jit
def transposed_in_place_kernel(x, N, B: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    r, c = tl.arange(0, B), tl.arange(0, B)
    tile = tl.load(x + (i * B + r)[:, None] * N + (j * B + c)[None, :])
    tl.store(x + (j * B + c)[:, None] * N + (i * B + r)[None, :], tl.trans(tile))


def test_transposed_in_place():
    accused(transposed_in_place_kernel, "tl.store", "x", (2, 2), randn(32, 32), 32, B=16)
    honest(transposed_in_place_kernel, (1, 1), randn(16, 16), 16, B=16)


@triton.jit
def overlapping_kernel(x, out, n, STRIDE: tl.constexpr, B: tl.constexpr):
    """Each program writes B elements; they overlap where STRIDE is smaller."""
    i = tl.program_id(0) * STRIDE + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) * (1 + tl.program_id(0)), mask=i < n)


def test_tiles_that_overlap():
    accused(overlapping_kernel, "tl.store", "out", (4,), randn(60), torch.zeros(60), 60, STRIDE=12, B=16)
    honest(overlapping_kernel, (4,), randn(60), torch.zeros(60), 60, STRIDE=16, B=16)


@triton.jit
def shared_edge_kernel(x, out, n, B: tl.constexpr):
    """Overlapping tiles that write what is the same for all: the last tile is moved back to end with the tensor."""
    start = tl.minimum(tl.program_id(0) * B, n - B)
    i = start + tl.arange(0, B)
    tl.store(out + i, tl.exp(tl.load(x + i)))


def test_last_tile_that_is_moved_back():
    honest(shared_edge_kernel, (4,), randn(60), torch.zeros(60), 60, B=16, check=lambda x, out, n: close(out, x.exp()))


@triton.jit
def stencil_kernel(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    left = tl.load(x + i - 1, mask=(i > 0) & (i < n), other=0.0)
    tl.store(out + i, left + tl.load(x + i, mask=i < n), mask=i < n)


def test_overlapping_reads():
    honest(stencil_kernel, (4,), randn(60), torch.zeros(60), 60, B=16)
    x = randn(60)
    findings = run(stencil_kernel, (4,), x, x, 60, B=16)
    assert {f.kind for f in findings} == {"race"}, "in place it is one"


@triton.jit
def scratch_kernel(x, scratch, out, n, PRIVATE: tl.constexpr, B: tl.constexpr):
    """Through memory of its own or of all."""
    p, i = tl.program_id(0), tl.arange(0, B)
    place = scratch + i + (p * B if PRIVATE else 0)
    tl.store(place, tl.load(x + p * B + i))
    tl.debug_barrier()
    tl.store(out + p * B + i, tl.load(place) * 2)


def test_scratch_memory():
    honest(
        scratch_kernel,
        (4,),
        randn(64),
        torch.zeros(64),
        torch.zeros(64),
        64,
        PRIVATE=True,
        B=16,
        check=lambda x, _, out, n: close(out, x * 2),
    )
    accused(
        scratch_kernel,
        ("tl.store(place", "tl.load(place"),
        "scratch",
        (4,),
        randn(64),
        torch.zeros(64),
        torch.zeros(64),
        64,
        PRIVATE=False,
        B=16,
    )


@triton.jit
def zeroed_kernel(x, out, n, B: tl.constexpr):
    """The first program zeroes what all add to."""
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    if p == 0:
        tl.store(out, 0.0)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))


def test_zeroed_by_the_first_program():
    accused(zeroed_kernel, ("tl.store(out, 0.0)", "tl.atomic_add"), "out", (4,), randn(60), torch.ones(1), 60, B=16)


@triton.jit
def float_counter_kernel(x, sums, out, n, B: tl.constexpr):
    """Sums and a counter of floats in one tensor; whoever sees that all have come goes on."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(sums, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0), sem="relaxed")
    tl.atomic_add(sums + 1, 1.0, sem="release")
    counter = tl.load(sums + 1)
    if counter == tl.num_programs(0):
        tl.store(out, tl.load(sums) / n)


def test_counter_of_floats():
    honest(
        float_counter_kernel,
        (4,),
        randn(60),
        torch.zeros(2),
        torch.zeros(1),
        60,
        B=16,
        check=lambda x, s, out, n: close(out[0], x.mean()),
    )


@triton.jit
def read_too_early_kernel(x, total, out, n, B: tl.constexpr):
    """Adds to a sum, and reads it before all have."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.atomic_add(total, tl.sum(v, 0))
    tl.store(out + i, v / tl.load(total), mask=i < n)


def test_sum_that_is_read_before_all_have_added():
    accused(
        read_too_early_kernel,
        ("tl.load(total)", "tl.atomic_add"),
        "total",
        (4,),
        randn(60),
        torch.zeros(1),
        torch.zeros(60),
        60,
        B=16,
    )
    honest(read_too_early_kernel, (1,), randn(16), torch.zeros(1), torch.zeros(16), 16, B=16)


# ---------------------------------------------------------------- atomics that order nothing


@triton.jit
def beside_kernel(x, out, counter, n, B: tl.constexpr):
    """A counter beside a sum that is loaded and stored."""
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=0.0)
    tl.atomic_add(counter, 1)
    old = tl.load(out + i, mask=i < n)
    tl.store(out + i, old + v, mask=i < n)
    tl.atomic_add(counter, 1)


def test_counter_that_nobody_looks_at_orders_nothing():
    accused(beside_kernel, ("old =", "tl.store"), "out", (6,), randn(6, 13), torch.zeros(13), ints(1), 13, B=16)


@triton.jit
def locks_apart_kernel(x, out, locks, n, LOCKS: tl.constexpr, B: tl.constexpr):
    """One sum under several locks: those who hold different ones do not wait for each other."""
    p, i = tl.program_id(0), tl.arange(0, B)
    lock = locks + p % LOCKS
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out + i, tl.load(out + i) + tl.load(x + p * B + i))
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def test_sum_under_locks():
    x = randn(12, 16)
    honest(
        locks_apart_kernel,
        (12,),
        x,
        torch.zeros(16),
        ints(3),
        16,
        LOCKS=1,
        B=16,
        check=lambda x, out, *_: close(out, x.sum(0)),
    )
    accused(locks_apart_kernel, "tl.store", "out", (12,), x, torch.zeros(16), ints(3), 16, LOCKS=3, B=16)


@triton.jit
def some_lock_kernel(x, out, lock, B: tl.constexpr):
    """Odd programs do not take the lock."""
    p, i = tl.program_id(0), tl.arange(0, B)
    if p % 2 == 0:
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
    tl.store(out + i, tl.load(out + i) + tl.load(x + p * B + i))
    tl.debug_barrier()
    if p % 2 == 0:
        tl.atomic_xchg(lock, 0)


def test_lock_that_only_some_take():
    accused(some_lock_kernel, "tl.store", "out", (6,), randn(6, 16), torch.zeros(16), ints(1), B=16)


@triton.jit
def early_flag_kernel(x, parts, flags, out, B: tl.constexpr, EARLY: tl.constexpr):
    """Each but the first waits for the one before it, whose flag may come before its data."""
    p, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + p * B + i)
    if EARLY:
        tl.atomic_xchg(flags + p, 1)
    tl.store(parts + p * B + i, v)
    tl.debug_barrier()
    if not EARLY:
        tl.atomic_xchg(flags + p, 1)
    if p > 0:
        while tl.atomic_cas(flags + p - 1, 1, 1) != 1:
            pass
        v += tl.load(parts + (p - 1) * B + i)
    tl.store(out + p * B + i, v)


def test_flag_before_and_behind_the_data():
    x = randn(8, 16)
    expected = x + torch.cat([torch.zeros(1, 16), x[:-1]])
    arguments = (x, torch.zeros(8, 16), ints(8), torch.zeros(8, 16))
    honest(
        early_flag_kernel, (8,), *arguments, EARLY=False, B=16, check=lambda x, parts, flags, out: close(out, expected)
    )
    accused(early_flag_kernel, ("tl.load(parts", "tl.store(parts"), "parts", (8,), *arguments, EARLY=True, B=16)


@triton.jit
def last_of_kernel(x, parts, counter, out, n, NEEDED, COUNT_FIRST: tl.constexpr, B: tl.constexpr, P: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    total = tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0)
    if COUNT_FIRST:
        ticket = tl.atomic_add(counter, 1)
        tl.store(parts + p, total)
    else:
        tl.store(parts + p, total)
        ticket = tl.atomic_add(counter, 1)
    if ticket == NEEDED - 1:
        tl.store(out, tl.sum(tl.load(parts + tl.arange(0, P)), 0))


def test_last_program_by_a_counter():
    x = randn(120)
    arguments = (x, torch.zeros(8), ints(1), torch.zeros(1), 120)
    honest(
        last_of_kernel,
        (8,),
        *arguments,
        8,
        COUNT_FIRST=False,
        B=16,
        P=8,
        check=lambda x, parts, c, out, *_: close(out[0], x.sum()),
    )


def test_last_program_by_a_counter_that_comes_too_early_or_counts_too_few():
    arguments, lines = (randn(120), torch.zeros(8), ints(1), torch.zeros(1), 120), ("tl.store(parts", "tl.load(parts")
    accused(last_of_kernel, lines, "parts", (8,), *arguments, 5, COUNT_FIRST=False, B=16, P=8)
    accused(last_of_kernel, lines, "parts", (8,), *arguments, 8, COUNT_FIRST=True, B=16, P=8)


@triton.jit
def scale_kernel(x, scale, sums, counter, n, HOW: tl.constexpr, B: tl.constexpr):
    """All read a scale, which one program sets anew: the first one, whoever is first, or the last."""
    p, i = tl.program_id(0), tl.arange(0, B)
    factor = tl.load(scale)
    tl.atomic_add(sums, tl.sum(tl.load(x + p * B + i) * factor, 0))
    come = tl.atomic_add(counter, 1)
    if HOW == "first program":
        if p == 0:
            tl.store(scale, factor * 2)
    elif HOW == "first to come":
        if come == 0:
            tl.store(scale, factor * 2)
    elif come == n - 1:
        tl.store(scale, factor * 2)


def test_scale_that_is_set_anew():
    x = randn(6, 16)
    arguments = (x, torch.ones(1), torch.zeros(1), ints(1), 6)
    honest(
        scale_kernel,
        (6,),
        *arguments,
        HOW="last to come",
        B=16,
        check=lambda x, scale, sums, *_: close(sums[0], x.sum()),
    )
    for order in ORDERS[:2]:
        fresh = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
        found = run(scale_kernel, (6,), *fresh, order=order, HOW="first to come", B=16)
        assert {(f.kind, f.argument) for f in found} == {("race", "scale")}
    found = run(scale_kernel, (6,), *arguments, HOW="first program", B=16)
    assert {(f.kind, f.argument) for f in found} == {("race", "scale")}


# ---------------------------------------------------------------- honest ones with atomics


@triton.jit
def split_k_kernel(a, b, out, K, locks, counts, HOW: tl.constexpr, S: tl.constexpr, B: tl.constexpr):
    """A part of K for each program; what they make is added up under a lock, by turns, or atomically."""
    tile, part = tl.program_id(0), tl.program_id(1)
    i = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(part * B, K, S * B):
        k = start + i
        x = tl.load(a + (tile * B + i)[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
        y = tl.load(b + k[:, None] * B + i[None, :], mask=k[:, None] < K, other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    to = out + (tile * B + i)[:, None] * B + i[None, :]
    if HOW == "atomic":
        tl.atomic_add(to, acc, sem="relaxed")
    elif HOW == "lock":
        while tl.atomic_cas(locks + tile, 0, 1) == 1:
            pass
        first = tl.load(counts + tile)
        if first == 0:
            tl.atomic_xchg(counts + tile, 1)
        else:
            acc += tl.load(to)
        tl.store(to, acc)
        tl.debug_barrier()
        tl.atomic_xchg(locks + tile, 0)
    elif HOW == "turns":
        while tl.atomic_add(locks + tile, 0) != part:
            pass
        if part > 0:
            acc += tl.load(to)
        tl.store(to, acc)
        tl.debug_barrier()
        tl.atomic_xchg(locks + tile, part + 1)
    elif HOW == "volatile turns":
        while tl.load(locks + tile, volatile=True) != part:
            pass
        if part > 0:
            acc += tl.load(to)
        tl.store(to, acc)
        tl.debug_barrier()
        tl.atomic_add(locks + tile, 1, sem="release")
    elif HOW == "plain turns":
        while tl.load(locks + tile, volatile=True) != part:
            pass
        if part > 0:
            acc += tl.load(to)
        tl.store(to, acc)
        tl.debug_barrier()
        tl.atomic_xchg(locks + tile, part + 1, sem="relaxed")


@pytest.mark.parametrize("how", ["atomic", "lock", "turns", "volatile turns", "plain turns"])
def test_split_k(how):
    a, b = randn(48, 80), randn(80, 16)
    check = lambda a, b, out, *_: close(out, a @ b)  # noqa: E731
    honest(split_k_kernel, (3, 4), a, b, torch.zeros(48, 16), 80, ints(3), ints(3), HOW=how, S=4, B=16, check=check)


@triton.jit
def stream_k_kernel(x, parts, flags, out, ROWS: tl.constexpr, HOW: tl.constexpr, B: tl.constexpr):
    """A row's parts by several programs: the first of a row waits for the flags of the others and adds them up."""
    row, part = tl.program_id(0), tl.program_id(1)
    i = tl.arange(0, B)
    v = tl.load(x + (row * ROWS + part) * B + i)
    mine = row * ROWS + part
    if part > 0:
        tl.store(parts + mine * B + i, v)
        tl.debug_barrier()
        if HOW == "cas":
            tl.atomic_cas(flags + mine, 0, 1)
        elif HOW == "add":
            tl.atomic_add(flags + mine, 1)
        else:
            tl.atomic_xchg(flags + mine, 1)
    else:
        for other in range(1, ROWS):
            flag = flags + row * ROWS + other
            if HOW == "volatile":
                while tl.load(flag, volatile=True) != 1:
                    pass
            elif HOW == "past the caches":
                while tl.load(flag, cache_modifier=".cv") != 1:
                    pass
            elif HOW == "add":
                while tl.atomic_add(flag, 0) == 0:
                    pass
            elif HOW == "or":
                while tl.atomic_or(flag, 0) == 0:
                    pass
            else:
                while tl.atomic_cas(flag, 1, 2) != 1:
                    pass
            v += tl.load(parts + (row * ROWS + other) * B + i)
        tl.store(out + row * B + i, v)


@pytest.mark.parametrize("how", ["cas", "xchg", "add", "or", "volatile"])
def test_stream_k(how):
    x = randn(5, 4, 16)
    arguments = (x, torch.zeros(20, 16), ints(20), torch.zeros(5, 16))
    honest(
        stream_k_kernel,
        (5, 4),
        *arguments,
        ROWS=4,
        HOW=how,
        B=16,
        check=lambda x, parts, flags, out: close(out, x.sum(1)),
    )


def test_wait_that_the_compiler_removes():
    """A loop of loads that are not volatile does nothing, so Triton leaves it out."""
    arguments = (randn(5, 4, 16), torch.zeros(20, 16), ints(20), torch.zeros(5, 16))
    accused(
        stream_k_kernel,
        ("tl.load(parts", "tl.store(parts"),
        "parts",
        (5, 4),
        *arguments,
        ROWS=4,
        HOW="past the caches",
        B=16,
    )


@triton.jit
def look_back_kernel(x, out, states, sums, prefixes, ticket, n, B: tl.constexpr):
    """A scan in one pass: each block looks back over the states of those before it until one has its whole prefix."""
    p = tl.atomic_add(ticket, 1)
    i = p * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    total = tl.sum(v, 0)
    tl.store(sums + p, total)
    tl.debug_barrier()
    tl.atomic_xchg(states + p, 1, sem="release")
    before = 0.0
    at = p - 1
    while at >= 0:
        state = 0
        while state == 0:
            state = tl.atomic_add(states + at, 0, sem="acquire")
        if state == 2:
            before += tl.load(prefixes + at)
            at = -1
        else:
            before += tl.load(sums + at)
            at -= 1
    tl.store(prefixes + p, before + total)
    tl.debug_barrier()
    tl.atomic_xchg(states + p, 2, sem="release")
    tl.store(out + i, before + tl.cumsum(v, 0), mask=i < n)


def test_decoupled_look_back():
    x = randn(150)
    arguments = (x, torch.zeros(150), ints(10), torch.zeros(10), torch.zeros(10), ints(1), 150)
    honest(look_back_kernel, (10,), *arguments, B=16, check=lambda x, out, *_: close(out, x.cumsum(0)))


@triton.jit
def chained_kernel(x, out, flags, n, B: tl.constexpr):
    """What the first program wrote is read by the last one, who waited for the one before it alone."""
    p, i = tl.program_id(0), tl.arange(0, B)
    if p > 0:
        while tl.atomic_add(flags + p - 1, 0) == 0:
            pass
    if p == tl.num_programs(0) - 1:
        tl.store(out + i, tl.load(x + i) * 2)
    elif p == 0:
        tl.store(x + i, tl.load(x + i) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(flags + p, 1)


def test_order_goes_through_others():
    x = randn(16)
    honest(
        chained_kernel,
        (6,),
        x,
        torch.zeros(16),
        ints(6),
        16,
        B=16,
        check=lambda changed, out, *_: close(out, (x + 1) * 2),
    )


@triton.jit
def two_phases_kernel(x, sums, out, counter, n, B: tl.constexpr, P: tl.constexpr):
    """A barrier of all programs between atomic sums and those who read them."""
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.atomic_add(sums, tl.sum(v, 0))
    tl.debug_barrier()
    tl.atomic_add(counter, 1)
    while tl.load(counter, volatile=True) < P:
        pass
    tl.store(out + i, v / tl.load(sums), mask=i < n)


def test_sums_behind_a_barrier_of_all():
    x = randn(60).abs()
    arguments = (x, torch.zeros(1), torch.zeros(60), ints(1), 60)
    honest(two_phases_kernel, (4,), *arguments, B=16, P=4, check=lambda x, sums, out, *_: close(out, x / x.sum()))


@triton.jit
def reset_kernel(x, sums, counter, out, n, B: tl.constexpr, P: tl.constexpr):
    """The last program reads the atomic sum, and sets sum and counter back for the next launch."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(sums, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))
    if tl.atomic_add(counter, 1) == P - 1:
        tl.store(out, tl.load(sums))
        tl.store(sums, 0.0)
        tl.store(counter, 0)


def test_last_program_sets_back():
    def check(x, sums, counter, out, *_):
        close(out[0], x.sum())
        assert sums.item() == counter.item() == 0

    honest(reset_kernel, (4,), randn(60), torch.zeros(1), ints(1), torch.zeros(1), 60, B=16, P=4, check=check)


@triton.jit
def found_kernel(x, found, n, B: tl.constexpr):
    """Leaves early where another has found something: any time of reading the flag is right."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    if tl.load(found) != 0:
        return
    if tl.max(tl.load(x + i, mask=i < n, other=0.0), 0) > 0.5:
        tl.atomic_xchg(found, 1)


def test_flag_that_may_be_read_at_any_time():
    def check(x, found, n):
        assert found.item() == 1

    honest(found_kernel, (8,), torch.linspace(0, 1, 128), ints(1), 128, B=16, check=check)


@triton.jit
def every_atomic_kernel(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v, m = tl.load(x + i, mask=i < n, other=0), i < n
    tl.atomic_add(y + v, 1, mask=m)
    tl.atomic_max(y + 8 + v, v, mask=m)
    tl.atomic_min(y + 16 + v, -v, mask=m)
    tl.atomic_and(y + 24 + v, ~v, mask=m)
    tl.atomic_or(y + 32 + v, v, mask=m)
    tl.atomic_xor(y + 40 + v, v, mask=m)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_atomics_of_every_kind(dtype):
    x = torch.randint(0, 8, (60,), generator=torch.Generator().manual_seed(2)).to(dtype)
    results = []
    honest(
        every_atomic_kernel,
        (4,),
        x,
        torch.zeros(48, dtype=dtype),
        60,
        B=16,
        check=lambda x, y, n: results.append(y.tolist()),
    )
    assert results[0] == results[1] == results[2] and results[0][:8] == torch.bincount(x, minlength=8).tolist()


@triton.jit
def float_atomics_kernel(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v, m = tl.load(x + i, mask=i < n, other=0.0), i < n
    tl.atomic_add(y + i % 4, v, mask=m)
    tl.atomic_max(y + 4 + i % 4, v, mask=m)
    tl.atomic_min(y + 8 + i % 4, v, mask=m)


def test_float_atomics_of_every_kind():
    x = randn(64)
    expected = torch.cat(
        [x.view(16, 4).sum(0), x.view(16, 4).max(0).values.clamp(min=0), x.view(16, 4).min(0).values.clamp(max=0)]
    )
    honest(float_atomics_kernel, (4,), x, torch.zeros(12), 64, B=16, check=lambda x, y, n: close(y, expected))


@triton.jit
def same_rows_kernel(x, index, out, n, B: tl.constexpr):
    """Rows are written by several programs, with what is the same for all of them."""
    i = tl.arange(0, B)
    row = tl.load(index + tl.program_id(0))
    tl.store(out + row * n + i, tl.load(x + row * n + i, mask=i < n), mask=i < n)


def test_benign_equal_writes():
    index = torch.tensor([0, 2, 2, 1, 0, 3])
    honest(
        same_rows_kernel,
        (6,),
        randn(4, 13),
        index,
        torch.zeros(4, 13),
        13,
        B=16,
        check=lambda x, index, out, n: close(x, out),
    )


@triton.jit
def queue_kernel(x, out, head, n, B: tl.constexpr):
    """Persistent programs that take tiles from a queue."""
    tile = tl.atomic_add(head, 1)
    while tile * B < n:
        i = tile * B + tl.arange(0, B)
        tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
        tile = tl.atomic_add(head, 1)


def test_queue_of_tiles():
    honest(
        queue_kernel, (3,), randn(150), torch.zeros(150), ints(1), 150, B=16, check=lambda x, out, *_: close(out, x * 2)
    )


@triton.jit
def locked_kernel(x, out, words, HOW: tl.constexpr, B: tl.constexpr):
    """One sum, under locks of every make."""
    p, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + p * B + i)
    if HOW == "exchange":
        while tl.atomic_xchg(words, 1) == 1:
            pass
    elif HOW == "ticket":
        mine = tl.atomic_add(words, 1)
        while tl.atomic_add(words + 1, 0) != mine:
            pass
    elif HOW == "volatile ticket":
        mine = tl.atomic_add(words, 1)
        while tl.load(words + 1, volatile=True) != mine:
            pass
    elif HOW == "bit":
        while tl.atomic_or(words, 4) & 4 != 0:
            pass
    elif HOW == "maximum":
        while tl.atomic_max(words, 0) != p:
            pass
    elif HOW == "of several words":
        while tl.max(tl.atomic_add(words + tl.arange(0, 2), 0), 0) != p:
            pass
    else:
        while tl.atomic_cas(words, 0, 1) == 1:
            pass
    tl.store(out + i, tl.load(out + i) + v)
    tl.debug_barrier()
    if HOW == "exchange":
        tl.atomic_xchg(words, 0)
    elif HOW == "ticket" or HOW == "volatile ticket":
        tl.atomic_add(words + 1, 1)
    elif HOW == "bit":
        tl.atomic_and(words, ~4)
    elif HOW == "maximum":
        tl.atomic_max(words, p + 1)
    elif HOW == "of several words":
        tl.atomic_add(words + tl.arange(0, 2), 1)
    elif HOW == "given back by a store":
        tl.store(words, 0)
    elif HOW == "given back by a subtraction":
        tl.atomic_add(words, -1)
    elif HOW == "given back by compare and swap":
        tl.atomic_cas(words, 1, 0)


LOCKS = [
    "exchange", "ticket", "volatile ticket", "bit", "maximum", "of several words", "given back by a store", "given back by a subtraction",
    "given back by compare and swap",
]  # fmt: skip


@pytest.mark.parametrize("how", LOCKS)
def test_locks_of_every_make(how):
    x = randn(9, 16)
    honest(
        locked_kernel,
        (9,),
        x,
        torch.zeros(16),
        ints(2),
        HOW=how,
        B=16,
        check=lambda x, out, words: close(out, x.sum(0)),
    )


@triton.jit
def two_counters_kernel(x, parts, sums, groups, total, out, n, G: tl.constexpr, S: tl.constexpr, B: tl.constexpr):
    """The last program of each group adds up its parts; the last of those adds up the groups."""
    p, g = tl.program_id(0), tl.program_id(0) // S
    i = p * B + tl.arange(0, B)
    tl.store(parts + p, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))
    if tl.atomic_add(groups + g, 1) == S - 1:
        tl.store(sums + g, tl.sum(tl.load(parts + g * S + tl.arange(0, S)), 0))
        tl.debug_barrier()
        if tl.atomic_add(total, 1) == G - 1:
            tl.store(
                out, tl.sum(tl.load(sums + tl.arange(0, G)), 0) + 0 * tl.sum(tl.load(parts + tl.arange(0, G * S)), 0)
            )


def test_counters_of_counters():
    x = randn(250)
    arguments = (x, torch.zeros(16), torch.zeros(4), ints(4), ints(1), torch.zeros(1), 250)
    honest(
        two_counters_kernel,
        (16,),
        *arguments,
        G=4,
        S=4,
        B=16,
        check=lambda x, a, b, c, d, out, n: close(out[0], x.sum()),
    )


@triton.jit
def countdown_kernel(x, parts, left, out, HOW: tl.constexpr, B: tl.constexpr, P: tl.constexpr):
    """The last one by a number that goes down, by bits that are set, or by a tensor of flags that are all set."""
    p, i = tl.program_id(0), tl.arange(0, B)
    tl.store(parts + p, tl.sum(tl.load(x + p * B + i), 0))
    tl.debug_barrier()
    if HOW == "number":
        last = tl.atomic_add(left, -1) == 1
    elif HOW == "bits":
        last = (tl.atomic_or(left, 1 << p) | (1 << p)) == (1 << P) - 1
    elif HOW == "flags":
        tl.atomic_xchg(left + p, 1)
        last = p == 0
        if last:
            while tl.sum(tl.load(left + tl.arange(0, P), volatile=True), 0) < P:
                pass
    if last:
        tl.store(out, tl.sum(tl.load(parts + tl.arange(0, P)), 0))


@pytest.mark.parametrize(("how", "left"), [("number", ints(1, value=8)), ("bits", ints(1)), ("flags", ints(8))])
def test_countdowns(how, left):
    x = randn(8, 16)
    check = lambda x, parts, left, out: close(out[0], x.sum())  # noqa: E731
    honest(countdown_kernel, (8,), x, torch.zeros(8), left, torch.zeros(1), HOW=how, B=16, P=8, check=check)


@triton.jit
def claimed_kernel(x, out, owners, tiles, B: tl.constexpr):
    """Programs try all tiles, and do those that they are the first to claim."""
    for tile in range(tiles):
        if tl.atomic_cas(owners + tile, 0, tl.program_id(0) + 1) == 0:
            i = tile * B + tl.arange(0, B)
            tl.store(out + i, tl.load(x + i) * 2)


def test_tiles_that_are_claimed():
    x = randn(80)
    honest(claimed_kernel, (3,), x, torch.zeros(80), ints(5), 5, B=16, check=lambda x, out, *_: close(out, x * 2))


@triton.jit
def exchanged_kernel(x, parts, flags, out, B: tl.constexpr):
    """The data itself is exchanged atomically, then the flag; who waited loads it."""
    p, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + p * B + i)
    tl.atomic_xchg(parts + p * B + i, v)
    tl.debug_barrier()
    tl.atomic_xchg(flags + p, 1)
    if p > 0:
        while tl.load(flags + p - 1, volatile=True) == 0:
            pass
        v += tl.load(parts + (p - 1) * B + i)
    tl.store(out + p * B + i, v)


def test_data_that_is_exchanged():
    x = randn(7, 16)
    expected = x + torch.cat([torch.zeros(1, 16), x[:-1]])
    arguments = (x, torch.zeros(7, 16), ints(7), torch.zeros(7, 16))
    honest(exchanged_kernel, (7,), *arguments, B=16, check=lambda x, parts, flags, out: close(out, expected))


@triton.jit
def cached_kernel(x, cache, flag, out, n, B: tl.constexpr):
    """Whether the first one has already left its result is seen without waiting; who does not see it computes it again."""
    p, i = tl.program_id(0), tl.arange(0, B)
    if tl.atomic_add(flag, 0) == 1:
        scale = tl.load(cache)
    else:
        scale = tl.max(tl.load(x + i), 0)
        if p == 0:
            tl.store(cache, scale)
            tl.debug_barrier()
            tl.atomic_xchg(flag, 1)
    tl.store(out + p * B + i, tl.load(x + p * B + i) / scale)


def test_result_that_may_be_there():
    x = randn(6, 16)
    arguments = (x, torch.zeros(1), ints(1), torch.zeros(6, 16), 16)
    honest(cached_kernel, (6,), *arguments, B=16, check=lambda x, c, f, out, n: close(out, x / x[0].max()))


@triton.jit
def generations_kernel(x, y, out, counter, generation, B: tl.constexpr, TURNS: tl.constexpr):
    """A barrier that is used again: the last to come sets the counter back and begins the next generation."""
    p, i, n = tl.program_id(0), tl.arange(0, B), tl.num_programs(0)
    v = tl.load(x + p * B + i)
    for turn in range(TURNS):
        tl.store(y + p * B + i, v)
        tl.debug_barrier()
        if tl.atomic_add(counter, 1) == n - 1:
            tl.atomic_xchg(counter, 0)
            tl.atomic_add(generation, 1)
        while tl.load(generation, volatile=True) == 2 * turn:
            pass
        v = tl.load(y + (p + 1) % n * B + i)
        tl.debug_barrier()
        if tl.atomic_add(counter, 1) == n - 1:
            tl.atomic_xchg(counter, 0)
            tl.atomic_add(generation, 1)
        while tl.load(generation, volatile=True) == 2 * turn + 1:
            pass
    tl.store(out + p * B + i, v)


def test_barrier_that_is_used_again():
    x = randn(5, 16)
    arguments = (x, torch.zeros(5, 16), torch.zeros(5, 16), ints(1), ints(1))
    honest(generations_kernel, (5,), *arguments, B=16, TURNS=3, check=lambda x, y, out, *_: close(out, x.roll(-3, 0)))


@triton.jit
def rotating_without_second_barrier_kernel(x, y, out, counter, B: tl.constexpr, TURNS: tl.constexpr):
    """One barrier a turn: who is first writes while others still read."""
    p, i, n = tl.program_id(0), tl.arange(0, B), tl.num_programs(0)
    v = tl.load(x + p * B + i)
    for turn in range(TURNS):
        tl.store(y + p * B + i, v)
        tl.debug_barrier()
        tl.atomic_add(counter, 1)
        while tl.load(counter, volatile=True) < n * (turn + 1):
            pass
        v = tl.load(y + (p + 1) % n * B + i)
    tl.store(out + p * B + i, v)


def test_barrier_that_is_missing():
    arguments = (randn(5, 16), torch.zeros(5, 16), torch.zeros(5, 16), ints(1))
    lines = ("tl.store(y", "v = tl.load(y")
    accused(rotating_without_second_barrier_kernel, lines, "y", (5,), *arguments, B=16, TURNS=3)


@triton.jit
def described_kernel(x, out, M, N, STRIDE, HOW: tl.constexpr, B: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [B, B])
    e = tl.make_tensor_descriptor(out, [M, N], [N, 1], [B, B])
    v = d.load([tl.program_id(0) * B, 0])
    if HOW == "add":
        e.atomic_add([0, 0], v)
    else:
        e.store([tl.program_id(0) * STRIDE, 0], v)


def test_tiles_by_descriptors():
    x = randn(48, 16)
    honest(
        described_kernel,
        (3,),
        x,
        torch.zeros(48, 16),
        48,
        16,
        16,
        HOW="store",
        B=16,
        check=lambda x, out, *_: close(x, out),
    )
    honest(
        described_kernel,
        (3,),
        x,
        torch.zeros(48, 16),
        48,
        16,
        16,
        HOW="add",
        B=16,
        check=lambda x, out, *_: close(x.view(3, 16, 16).sum(0), out[:16]),
    )
    accused(described_kernel, "e.store", "out", (3,), x, torch.zeros(48, 16), 48, 16, 8, HOW="store", B=16)


def test_launches_do_not_race_with_each_other():
    x, out = randn(60), torch.zeros(60)
    for source, target in ((x, out), (out, x)):
        honest(stencil_kernel, (4,), source, target, 60, B=16)


@triton.jit
def not_waited_kernel(x, parts, flags, out, B: tl.constexpr):
    """Looks at the flag once, whatever it is."""
    p, i = tl.program_id(0), tl.arange(0, B)
    tl.store(parts + p * B + i, tl.load(x + p * B + i))
    tl.debug_barrier()
    if p > 0:
        tl.atomic_add(flags + p - 1, 0)
    v = tl.load(parts + (p + 1) % tl.num_programs(0) * B + i)
    tl.atomic_xchg(flags + p, 1)
    tl.store(out + p * B + i, v)


def test_flag_that_is_not_waited_for():
    arguments = (randn(7, 16), torch.zeros(7, 16), ints(7), torch.zeros(7, 16))
    accused(not_waited_kernel, ("v = tl.load(parts", "tl.store(parts"), "parts", (7,), *arguments, B=16)


@triton.jit
def other_flag_kernel(x, parts, flags, out, AHEAD: tl.constexpr, B: tl.constexpr):
    """Waits for the flag of one program, and reads what another one has written."""
    p, i, n = tl.program_id(0), tl.arange(0, B), tl.num_programs(0)
    tl.store(parts + p * B + i, tl.load(x + p * B + i))
    tl.debug_barrier()
    tl.atomic_xchg(flags + p, 1)
    while tl.atomic_add(flags + (p + 1) % n, 0) == 0:
        pass
    tl.store(out + p * B + i, tl.load(parts + (p + AHEAD) % n * B + i))


def test_flag_of_another_program():
    x = randn(7, 16)
    arguments = (x, torch.zeros(7, 16), ints(7), torch.zeros(7, 16))
    honest(
        other_flag_kernel, (7,), *arguments, AHEAD=1, B=16, check=lambda x, parts, flags, out: close(out, x.roll(-1, 0))
    )
    accused(other_flag_kernel, ("tl.load(parts", "tl.store(parts"), "parts", (7,), *arguments, AHEAD=2, B=16)


# ---------------------------------------------------------------- results by order


@triton.jit
def winner_kernel(out, HOW: tl.constexpr):
    p = tl.program_id(0)
    if HOW == "exchange":
        tl.atomic_xchg(out, p)
    elif HOW == "compare and swap":
        tl.atomic_cas(out, -1, p)
    elif HOW == "store":
        tl.store(out, p)
    elif HOW == "ticket":
        tl.store(out + 1 + tl.atomic_add(out, 1), p)
    elif HOW == "carry":
        tl.store(out + p + 1, tl.load(out + p) + p)


@pytest.mark.parametrize("how", ["exchange", "compare and swap", "store", "ticket"])
def test_order_decides(how):
    """Who wins depends on the order of programs."""
    results = {}
    for order in ORDERS:
        out = ints(9, value=-1)
        run(winner_kernel, (8,), out, order=order, seed=5, HOW=how)
        results[order] = out.tolist()
    assert results["ascending"] != results["reversed"]


@triton.jit
def share_kernel(x, total, out, n, HOW: tl.constexpr, B: tl.constexpr):
    """What each program adds to a total, over the total, which it reads before others have added to it."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(total, tl.sum(v, 0))
    if HOW == "load":
        whole = tl.load(total)
    elif HOW == "volatile":
        whole = tl.load(total, volatile=True)
    else:
        whole = tl.atomic_max(total, 0)
    tl.store(out + i, v / whole, mask=i < n)


@pytest.mark.parametrize("programs", [2, 7])
@pytest.mark.parametrize(
    ("dtype", "how"), [(torch.int32, "load"), (torch.int32, "atomic"), (torch.float32, "volatile")]
)
def test_total_that_is_read_too_early_depends_on_the_order(dtype, how, programs):
    """Nothing says that it is no counter, but in another order some find only a part of it."""
    x, right = torch.arange(1, 16 * programs + 1).to(dtype), []
    for order in ORDERS:
        out = torch.zeros(len(x))
        run(share_kernel, (programs,), x, torch.zeros(1, dtype=dtype), out, len(x), order=order, HOW=how, B=16)
        right.append(torch.allclose(out, x / x.sum()))
    assert right == [True, False, False]


@triton.jit
def plain_wait_kernel(x, parts, counter, out, n, B: tl.constexpr, P: tl.constexpr):
    """Waits by loads that are like others, whose value is used so that Triton leaves the loop in."""
    p, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + p * B + i)
    tl.store(parts + p, tl.sum(v, 0))
    tl.debug_barrier()
    tl.atomic_add(counter, 1)
    seen = 0
    while seen < n:
        seen = tl.load(counter)
    tl.store(out + p * B + i, v + tl.sum(tl.load(parts + tl.arange(0, P)), 0) * (seen // n))


def test_wait_by_plain_loads_ends_in_each_order():
    x = randn(4, 16)
    honest(
        plain_wait_kernel, (4,), x, torch.zeros(4), ints(1), torch.zeros(4, 16), 4, B=16, P=4,
        check=lambda x, parts, counter, out, n: close(out, x + x.sum()),
    )  # fmt: skip


@pytest.mark.parametrize("chunk", [1, 3, 8])
@pytest.mark.parametrize("how", ["exchange", "store", "carry"])
def test_order_holds_within_and_between_chunks(monkeypatch, how, chunk):
    from kbx.ttir import executor

    monkeypatch.setattr(executor, "CHUNK_ELEMENTS", chunk)
    results = {}
    for order in ORDERS:
        out = ints(9)
        run(winner_kernel, (8,), out, order=order, seed=5, HOW=how)
        results[order] = out.tolist()
    if how == "carry":
        assert chunk > 1 or results["ascending"] != results["reversed"]
    else:
        assert results["ascending"][0] == 7 and results["reversed"][0] == 0


@triton.jit
def short_barrier_kernel(x, parts, out, counter, SHORT: tl.constexpr, P: tl.constexpr, B: tl.constexpr):
    """A barrier, which may let programs go on while one has not come."""
    p, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + p * B + i)
    tl.store(parts + p, tl.sum(v, 0))
    tl.debug_barrier()
    tl.atomic_add(counter, 1)
    while tl.atomic_add(counter, 0) < P - SHORT:
        pass
    tl.store(out + p * B + i, v / tl.sum(tl.load(parts + tl.arange(0, P)), 0))


def test_barrier_short_of_one():
    """Programs that run together all come at once; in another order they do not."""
    x = randn(8, 16).abs()
    arguments = (x, torch.zeros(8), torch.zeros(8, 16), ints(1))
    honest(
        short_barrier_kernel,
        (8,),
        *arguments,
        SHORT=0,
        P=8,
        B=16,
        check=lambda x, parts, out, c: close(out, x / x.sum()),
    )
    for order in ORDERS[1:]:
        fresh = [a.clone() for a in arguments]
        found = run(short_barrier_kernel, (8,), *fresh, order=order, SHORT=1, P=8, B=16)
        assert {(f.kind, f.argument) for f in found} == {("race", "parts")}


@triton.jit
def counted_kernel(x, count, out, n, B: tl.constexpr):
    """Counts, and reads the count before all have counted."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(count, tl.sum((tl.load(x + i, mask=i < n, other=0.0) > 0).to(tl.int32), 0))
    tl.store(out + i, tl.load(count).to(tl.float32), mask=i < n)


def test_count_that_is_read_before_all_have_counted():
    """Of integers a load may be a look at a flag, so nobody is accused; but the result is another one in another order."""
    results = []
    for order in ORDERS:
        out = torch.zeros(60)
        assert run(counted_kernel, (4,), randn(60), ints(1), out, 60, order=order, B=16) == []
        results.append(out.tolist())
    assert results[0] != results[1]
