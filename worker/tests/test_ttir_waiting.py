"""Programs that wait for each other: locks, barriers, queues of work, and waits that nobody ends."""

import pytest
import torch
import triton
import triton.language as tl
from ttir_launch import run

from kbx.ttir import waiting
from kbx.ttir.errors import Stuck


@triton.jit
def locked_sum_kernel(x, out, locks, n, B: tl.constexpr, LOCKS: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + p * B + i)
    lock = locks + p % LOCKS
    count = locks + LOCKS + p % LOCKS
    target = out + (p % LOCKS) * B + i
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        v += tl.load(target)
    tl.store(target, v)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@pytest.mark.parametrize("locks", [1, 5])
@pytest.mark.parametrize("order", ["ascending", "reversed", "shuffled"])
def test_sums_under_locks(locks, order):
    x, out = torch.randn(40, 16), torch.full((locks, 16), 99.0)
    assert (
        run(
            locked_sum_kernel,
            (40,),
            x,
            out,
            torch.zeros(2 * locks, dtype=torch.int32),
            40,
            order=order,
            B=16,
            LOCKS=locks,
        )
        == []
    )
    torch.testing.assert_close(out, torch.stack([x[i::locks].sum(0) for i in range(locks)]), rtol=1e-4, atol=1e-4)


@triton.jit
def barrier_kernel(x, y, out, counter, B: tl.constexpr, PROGRAMS: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(y + p * B + i, tl.load(x + p * B + i) * 2)
    tl.atomic_add(counter, 1)
    while tl.atomic_add(counter, 0) < PROGRAMS:
        pass
    other = (p + 1) % PROGRAMS
    tl.store(out + p * B + i, tl.load(y + other * B + i))


def test_a_barrier_of_all_programs(monkeypatch):
    x, y, out = torch.randn(12, 16), torch.zeros(12, 16), torch.zeros(12, 16)
    assert run(barrier_kernel, (12,), x, y, out, torch.zeros(1, dtype=torch.int32), B=16, PROGRAMS=12) == []
    assert torch.equal(out, 2 * x.roll(-1, 0))
    from kbx.ttir import executor

    monkeypatch.setattr(executor, "CHUNK_ELEMENTS", 16 * 5)
    out.zero_()
    assert run(barrier_kernel, (12,), x, y, out, torch.zeros(1, dtype=torch.int32), B=16, PROGRAMS=12) == []
    assert torch.equal(out, 2 * x.roll(-1, 0))


@triton.jit
def chain_kernel(x, out, flags, n, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    if p >= n:
        return
    v = tl.cumsum(tl.load(x + p * B + i), 0)
    if p > 0:
        while tl.load(flags + p - 1, volatile=True) == 0:
            pass
        tl.atomic_add(flags + p - 1, 0)
        v += tl.load(out + p * B - 1)
    tl.store(out + p * B + i, v)
    tl.atomic_xchg(flags + p, 1)


def test_each_program_waits_for_the_one_before():
    x, out = torch.randn(10, 16), torch.zeros(10, 16)
    for order in ("ascending", "reversed"):
        out.zero_()
        assert run(chain_kernel, (12,), x, out, torch.zeros(12, dtype=torch.int32), 10, order=order, B=16) == []
        torch.testing.assert_close(out.flatten(), x.flatten().cumsum(0), rtol=1e-4, atol=1e-4)


@triton.jit
def queue_kernel(x, out, counter, n, B: tl.constexpr):
    tile = tl.atomic_add(counter, 1)
    while tile < n:
        i = tile * B + tl.arange(0, B)
        tl.store(out + i, tl.load(x + i) + 1)
        tile = tl.atomic_add(counter, 1)


def test_a_queue_of_work():
    x, out = torch.randn(50 * 16), torch.zeros(50 * 16)
    assert run(queue_kernel, (7,), x, out, torch.zeros(1, dtype=torch.int32), 50, B=16) == []
    assert torch.equal(out, x + 1)


@triton.jit
def loop_of_locks_kernel(out, lock, turns, B: tl.constexpr):
    i = tl.arange(0, B)
    for turn in range(tl.program_id(0) % turns + 1):
        while tl.atomic_cas(lock, 0, 1) != 0:
            pass
        tl.store(out + i, tl.load(out + i) + turn + 1)
        tl.atomic_xchg(lock, 0)


def test_locks_inside_loops_of_different_length():
    out = torch.zeros(8, dtype=torch.int32)
    assert run(loop_of_locks_kernel, (9,), out, torch.zeros(1, dtype=torch.int32), 3, B=8) == []
    assert out.tolist() == [3 * (1 + (1 + 2) + (1 + 2 + 3))] * 8


@triton.jit
def for_ever_kernel(flag, out):
    while tl.atomic_cas(flag, 1, 1) != 1:
        pass
    tl.store(out + tl.program_id(0), 1)


def test_a_wait_that_nobody_ends(monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 50)
    with pytest.raises(Stuck, match="test_ttir_waiting.py"):
        run(for_ever_kernel, (4,), torch.zeros(1, dtype=torch.int32), torch.zeros(4, dtype=torch.int32))


def test_a_program_that_waits_for_itself(monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 50)
    with pytest.raises(Stuck):
        run(for_ever_kernel, (1,), torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32))


@triton.jit
def plain_flag_kernel(x, out, flag):
    if tl.program_id(0) == 0:
        tl.store(out, tl.load(x) + 1)
        tl.store(flag, 1)
    else:
        while tl.load(flag) == 0:
            pass
        tl.store(out + tl.program_id(0), tl.load(out))


def test_a_flag_that_is_no_atomic():
    x, out = torch.ones(1), torch.zeros(4)
    findings = run(plain_flag_kernel, (4,), x, out, torch.zeros(1, dtype=torch.int32))
    assert out.tolist() == [2.0] * 4
    assert {f.kind for f in findings} == {"race"}


@triton.jit
def impatient_kernel(flag, out):
    tries = 0
    while (tl.atomic_cas(flag, 1, 1) != 1) & (tries < 20):
        tries += 1
    tl.store(out + tl.program_id(0), tries)


def test_a_wait_that_gives_up():
    out = torch.zeros(4, dtype=torch.int32)
    assert run(impatient_kernel, (4,), torch.zeros(1, dtype=torch.int32), out) == []
    assert out.tolist() == [20] * 4


@triton.jit
def unlocked_sum_kernel(x, out, lock, B: tl.constexpr):
    i = tl.arange(0, B)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.atomic_xchg(lock, 0)
    tl.store(out + i, tl.load(out + i) + tl.load(x + tl.program_id(0) * B + i))


def test_a_lock_that_is_given_back_too_early():
    findings = run(unlocked_sum_kernel, (6,), torch.randn(6, 8), torch.zeros(8), torch.zeros(1, dtype=torch.int32), B=8)
    assert {(f.kind, f.argument) for f in findings} == {("race", "out")}
