"""What is wrong with accesses to memory: each finding has its line, tensor and program, and honest kernels that come near have none."""

import pytest
import torch
import triton
import triton.language as tl
from ttir_launch import launch_on_tensors, line_of, only, region_of, run

from kbx.ttir.executor import Kernel

# ---------------------------------------------------------------- bounds


@triton.jit
def rows_kernel(x, w, out, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    a = tl.load(x + row * n + i, mask=i < n, other=0.0)
    b = tl.load(w + i)
    tl.store(out + row, tl.sum(a * b, axis=0))


def test_read_behind_a_tensor():
    x, w, out = torch.randn(9, 50), torch.randn(50), torch.zeros(9)
    found = only(run(rows_kernel, (9,), x, w, out, 50, B=64), "out_of_bounds", rows_kernel, "tl.load(w")
    assert found.argument == "w" and found.lanes == 14 and "56 bytes behind the end of w (200 bytes)" in found.text
    assert torch.isfinite(x).all() and run(rows_kernel, (9,), torch.randn(9, 64), torch.randn(64), out, 64, B=64) == []


def test_lanes_outside_hold_other_values_for_other_seeds():
    x, w = torch.ones(9, 50), torch.ones(50)
    results = []
    for seed in range(3):
        out = torch.zeros(9)
        run(rows_kernel, (9,), torch.ones(9, 64)[:, :50].contiguous(), w, out, 50, seed=seed, B=64)
        results.append(out[0].item())
    assert len(x) == 9 and len({str(r) for r in results}) > 1


@triton.jit
def rows_without_mask_kernel(x, out, n, B: tl.constexpr):
    row = tl.program_id(0)
    v = tl.load(x + row * n + tl.arange(0, B))
    tl.store(out + row, tl.max(v, axis=0))


def test_only_the_last_program_reads_behind():
    found = only(
        run(rows_without_mask_kernel, (5,), torch.randn(5, 60), torch.zeros(5), 60, B=64),
        "out_of_bounds",
        rows_without_mask_kernel,
        "tl.load",
    )
    assert found.program == (4, 0, 0) and found.lanes == 4


@triton.jit
def shifted_kernel(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    left = tl.load(x + i - 1, mask=i < n)
    tl.store(out + i + 1, left, mask=i < n)


def test_before_the_beginning_and_a_store_behind_the_end():
    x, out = torch.randn(64), torch.zeros(64)
    findings = run(shifted_kernel, (2,), x, out, 64, B=32)
    assert [(f.kind, f.argument, f.line - line_of(shifted_kernel, "left =")) for f in findings] == [
        ("out_of_bounds", "x", 0), ("out_of_bounds", "out", 1),
    ]  # fmt: skip
    assert "4 bytes before the beginning" in findings[0].text and findings[0].program == (0, 0, 0)
    assert "writes up to 4 bytes behind the end" in findings[1].text and findings[1].program == (1, 0, 0)


@triton.jit
def product_kernel(a, b, c, M, N, K, sam, sbk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + (m % M)[:, None] * sam + k[None, :])
        right = tl.load(b + k[:, None] * sbk + (n % N)[None, :])
        acc += tl.dot(left, right, input_precision="ieee")
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


def test_matrix_product_without_a_mask_along_k():
    a, b, c = torch.randn(40, 50), torch.randn(50, 36), torch.zeros(40, 36)
    findings = run(product_kernel, (2, 2), a, b, c, 40, 36, 50, 50, 36, BM=32, BN=32, BK=32)
    assert {(f.kind, f.argument) for f in findings} == {("out_of_bounds", "a"), ("out_of_bounds", "b")}
    assert {f.line for f in findings} == {line_of(product_kernel, "left ="), line_of(product_kernel, "right =")}


def test_views_of_one_storage_may_be_read_across():
    whole = torch.randn(10, 64)
    assert run(rows_without_mask_kernel, (5,), whole[2:7], torch.zeros(5), 64, B=64) == []


@triton.jit
def table_kernel(table, out, B: tl.constexpr):
    pointer = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(out + tl.program_id(0) * B + tl.arange(0, B), tl.load(pointer + tl.arange(0, B)))


def test_pointers_read_from_memory_lead_to_tensors_that_are_known():
    parts = [torch.randn(16) for _ in range(3)]
    table, out = torch.tensor([p.data_ptr() for p in parts]), torch.zeros(48)
    more = lambda: [region_of(p, "part") for p in parts]  # noqa: E731
    assert run(table_kernel, (3,), table, out, more=more, B=16) == []
    assert torch.equal(out, torch.cat(parts))
    found = only(run(table_kernel, (3,), table, out, B=16), "out_of_bounds", table_kernel, "tl.load(pointer")
    assert found.kind == "out_of_bounds"


def test_tensors_that_no_parameter_leads_to_have_a_name():
    parts = [torch.randn(12) for _ in range(3)]
    table = torch.tensor([p.data_ptr() for p in parts])
    more = lambda: [region_of(p) for p in parts]  # noqa: E731
    findings = run(table_kernel, (3,), table, torch.zeros(48), more=more, B=16)
    found = only(findings, "out_of_bounds", table_kernel, "tl.load(pointer")
    assert found.text == "reads up to 16 bytes behind the end of another tensor (48 bytes), 4 lanes"


@triton.jit
def wide_kernel(x, out, B: tl.constexpr):
    pointer = (x + 1).to(tl.pointer_type(tl.int32))
    tl.store(out + tl.arange(0, B), tl.load(pointer + tl.arange(0, B)))


def test_misaligned_addresses():
    only(
        run(wide_kernel, (1,), torch.zeros(64, dtype=torch.int8), torch.zeros(8, dtype=torch.int32), B=8),
        "misaligned",
        wide_kernel,
        "tl.load(pointer",
    )


@triton.jit
def far_kernel(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.gather(tl.load(x + i), i + 1, 0))


def test_gather_outside_its_tensor():
    found = only(
        run(far_kernel, (1,), torch.randn(16), torch.zeros(16), B=16), "out_of_bounds", far_kernel, "tl.gather"
    )
    assert "element 16 of 16" in found.text


# ---------------------------------------------------------------- undefined lanes


@triton.jit
def largest_kernel(x, out, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n)
    tl.store(out + row, tl.max(tl.abs(v), axis=0))


def test_undefined_lanes_that_reach_a_result():
    x, results = torch.randn(4, 13), set()
    for seed in range(3):
        out = torch.zeros(4)
        only(run(largest_kernel, (4,), x, out, 13, seed=seed, B=16), "undefined", largest_kernel, "tl.store")
        results.add(str(out.tolist()))
    assert len(results) > 1
    assert run(largest_kernel, (4,), torch.randn(4, 16), torch.zeros(4), 16, B=16) == []


@triton.jit
def padded_kernel(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.exp(v) * 2, mask=i < n)
    tl.store(out + n + i, tl.where(i < n, v, 0.0), mask=i < 2 * n)


def test_undefined_lanes_that_reach_nothing():
    assert run(padded_kernel, (2,), torch.randn(20), torch.zeros(60), 20, B=16) == []


@triton.jit
def branching_kernel(x, out, n):
    v = tl.load(x + tl.program_id(0), mask=tl.program_id(0) < n)
    if v > 0:
        tl.store(out + tl.program_id(0), v)


def test_branch_on_an_undefined_value():
    findings = run(branching_kernel, (4,), torch.ones(3), torch.zeros(4), 3, seed=1)
    found = only(findings, "undefined", branching_kernel, "if v > 0")
    assert found.program == (3, 0, 0)


# ---------------------------------------------------------------- races


@triton.jit
def lost_kernel(x, index, out, n):
    i = tl.program_id(0)
    at = out + tl.load(index + i)
    tl.store(at, tl.load(at) + tl.load(x + i))


def test_lost_updates():
    x, index = torch.randn(50), torch.randint(0, 5, (50,), generator=torch.Generator().manual_seed(0))
    found = only(run(lost_kernel, (50,), x, index, torch.zeros(5), 50), "race", lost_kernel, "tl.store(at")
    assert found.argument == "out"
    assert run(lost_kernel, (50,), x, torch.arange(50), torch.zeros(50), 50) == []


@triton.jit
def neighbour_kernel(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i + 1, mask=i + 1 < n, other=0.0), mask=i < n)


def test_shift_in_place():
    found = only(run(neighbour_kernel, (4,), torch.randn(64), 64, B=16), "race", neighbour_kernel, "tl.store")
    assert found.argument == "x" and "reads" in found.text
    assert run(neighbour_kernel, (1,), torch.randn(64), 64, B=64) == []


@triton.jit
def carried_kernel(x, out, n, B: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    before = tl.load(out + p * B - 1, mask=p > 0, other=0.0)
    tl.store(out + i, before + tl.cumsum(tl.load(x + i, mask=i < n, other=0.0), 0), mask=i < n)


def test_carry_from_program_to_program():
    findings = run(carried_kernel, (4,), torch.randn(64), torch.zeros(64), 64, B=16)
    assert {f.kind for f in findings} == {"race"} and findings[0].argument == "out"


@triton.jit
def same_kernel(out, B: tl.constexpr, BY_PROGRAM: tl.constexpr):
    value = tl.program_id(0) * BY_PROGRAM
    tl.store(out + tl.arange(0, B), tl.full((B,), 1, tl.int32) * value + 7)


def test_equal_bits_may_be_written_by_several():
    assert run(same_kernel, (4,), torch.zeros(16, dtype=torch.int32), B=16, BY_PROGRAM=0) == []
    only(
        run(same_kernel, (4,), torch.zeros(16, dtype=torch.int32), B=16, BY_PROGRAM=1), "race", same_kernel, "tl.store"
    )


@triton.jit
def shared_statistics_kernel(x, mean, out, n, B: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(mean + row, tl.sum(tl.load(x + row * n + i, mask=i < n, other=0.0), axis=0) / n)
    tl.debug_barrier()
    c = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(out + row * n + c, tl.load(x + row * n + c, mask=c < n) - tl.load(mean + row), mask=c < n)


def test_several_may_write_the_same_and_read_it_again():
    x, out = torch.randn(5, 30), torch.zeros(5, 30)
    assert run(shared_statistics_kernel, (5, 2), x, torch.zeros(5), out, 30, B=32, COLUMNS=16) == []
    torch.testing.assert_close(out, x - x.mean(1, keepdim=True))


@triton.jit
def last_block_kernel(x, parts, counter, out, n, B: tl.constexpr, PROGRAMS: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    tl.store(parts + p, tl.sum(tl.load(x + i, mask=i < n, other=0.0), axis=0))
    if tl.atomic_add(counter, 1) == PROGRAMS - 1:
        tl.store(out, tl.sum(tl.load(parts + tl.arange(0, PROGRAMS)), axis=0))


def test_the_last_program_adds_up_what_a_counter_orders():
    x, parts, out = torch.randn(100), torch.zeros(8), torch.zeros(1)
    assert run(last_block_kernel, (8,), x, parts, torch.zeros(1, dtype=torch.int32), out, 100, B=16, PROGRAMS=8) == []
    torch.testing.assert_close(out[0], x.sum())


@triton.jit
def uncounted_kernel(x, parts, out, n, B: tl.constexpr, PROGRAMS: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    tl.store(parts + p, tl.sum(tl.load(x + i, mask=i < n, other=0.0), axis=0))
    if p == PROGRAMS - 1:
        tl.store(out, tl.sum(tl.load(parts + tl.arange(0, PROGRAMS)), axis=0))


def test_the_last_program_does_not_wait_for_the_others():
    found = only(
        run(uncounted_kernel, (8,), torch.randn(100), torch.zeros(8), torch.zeros(1), 100, B=16, PROGRAMS=8),
        "race",
        uncounted_kernel,
        "tl.load(parts",
    )
    assert found.program == (7, 0, 0)


@triton.jit
def mixed_sizes_kernel(x, B: tl.constexpr):
    p = tl.program_id(0)
    words = x.to(tl.pointer_type(tl.int32))
    tl.store(x + p * 4 + tl.arange(0, 4), (p + 1).to(tl.int8))
    tl.store(x + 64 + p, tl.load(words + (p + 1) % 8).to(tl.int8))


def test_races_between_accesses_of_different_sizes():
    findings = run(mixed_sizes_kernel, (8,), torch.zeros(128, dtype=torch.int8), B=4)
    assert {(f.kind, f.line) for f in findings} == {("race", line_of(mixed_sizes_kernel, "tl.load(words"))}


@triton.jit
def in_place_kernel(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def test_in_place_is_no_race():
    x = torch.ones(100)
    assert run(in_place_kernel, (7,), x, 100, B=16) == [] and x.sum() == 200


# ---------------------------------------------------------------- atomic operations


@triton.jit
def counter_kernel(counter, order, table, N: tl.constexpr):
    i = tl.program_id(0)
    place = tl.atomic_add(counter, 1)
    tl.store(order + place, i)
    tl.atomic_max(table, i)
    tl.atomic_min(table + 1, -i)
    tl.atomic_or(table + 2, 1 << (i % 16))
    tl.atomic_xor(table + 3, i)
    tl.atomic_xchg(table + 4, i)
    tl.atomic_cas(table + 5, 0, i + 1)


@pytest.mark.parametrize("order", ["ascending", "reversed"])
def test_atomic_operations_take_turns_by_program(order):
    counter, places, table = (
        torch.zeros(1, dtype=torch.int32),
        torch.zeros(20, dtype=torch.int32),
        torch.zeros(6, dtype=torch.int32),
    )
    assert run(counter_kernel, (20,), counter, places, table, order=order, N=20) == []
    expected = list(range(20)) if order == "ascending" else list(range(19, -1, -1))
    xor = 0
    for i in range(20):
        xor ^= i
    assert counter.item() == 20 and places.tolist() == expected
    assert table.tolist() == [19, -19, 2**16 - 1, xor, expected[-1], expected[0] + 1]


@triton.jit
def scatter_kernel(x, index, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.atomic_add(out + tl.load(index + i, mask=m, other=0), tl.load(x + i, mask=m, other=0.0), mask=m)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_atomic_sums(dtype):
    x = torch.randint(-8, 8, (200,), generator=torch.Generator().manual_seed(0)).to(dtype)
    index, out = torch.randint(0, 9, (200,), generator=torch.Generator().manual_seed(1)), torch.zeros(9, dtype=dtype)
    assert run(scatter_kernel, (4,), x, index, out, 200, B=64) == []
    assert torch.equal(out, torch.zeros(9, dtype=dtype).index_add_(0, index, x))


# ---------------------------------------------------------------- assertions


@triton.jit
def assumed_kernel(x, out):
    i = tl.program_id(0)
    tl.assume(i > 0)
    tl.store(out + i, tl.load(x + i))


def test_an_assumption_that_does_not_hold():
    found = only(run(assumed_kernel, (3,), torch.ones(3), torch.zeros(3)), "assertion", assumed_kernel, "tl.assume")
    assert found.program == (0, 0, 0)


def test_a_kernel_without_memory():
    text = """
module {
  tt.func public @k(%x: !tt.ptr<f32>) {
    %c = arith.constant 1.000000e+00 : f32
    tt.store %x, %c : !tt.ptr<f32>
    tt.return
  }
}
"""
    (found,) = launch_on_tensors(Kernel(text), (2,), [None])
    assert found.kind == "out_of_bounds" and found.line == 0 and found.ir_line == 5
