"""Accesses outside of tensors, wrong ones and honest ones that come near: what is found, and how it is told."""

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor
from ttir_launch import line_of, only, run


def randn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3))


@triton.jit
def copy_kernel(x, out, n, shift, bound, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i + shift, mask=i < n, other=0.0)
    tl.store(out + i, v, mask=i < bound)


def test_one_lane_behind():
    found = only(
        run(copy_kernel, (4,), randn(63), torch.zeros(64), 64, 0, 64, B=16), "out_of_bounds", copy_kernel, "v ="
    )
    assert found.text == "reads up to 4 bytes behind the end of x (252 bytes), 1 lane"
    assert (found.program, found.lanes, found.argument) == ((3, 0, 0), 1, "x")


def test_store_under_a_mask_that_lets_one_too_many():
    found = only(
        run(copy_kernel, (5,), randn(64), torch.zeros(64), 64, 0, 65, B=16), "out_of_bounds", copy_kernel, "tl.store"
    )
    assert found.argument == "out" and found.program == (4, 0, 0) and "writes up to 4 bytes behind" in found.text


def test_more_programs_than_needed():
    assert run(copy_kernel, (9,), randn(64), torch.zeros(64), 64, 0, 64, B=16) == []
    found = only(
        run(copy_kernel, (9,), randn(64), torch.zeros(64), 64, 0, 144, B=16), "out_of_bounds", copy_kernel, "tl.store"
    )
    assert found.program == (4, 0, 0) and found.lanes == 80


@pytest.mark.parametrize("order", ["ascending", "reversed", "shuffled"])
def test_the_first_program_is_named_in_any_order(order):
    found = only(
        run(copy_kernel, (9,), randn(64), torch.zeros(64), 64, 0, 144, order=order, B=16),
        "out_of_bounds", copy_kernel, "tl.store",
    )  # fmt: skip
    assert found.program == (4, 0, 0)


def test_offset_that_lands_in_another_tensor():
    whole = randn(256)
    x, y = whole[:64].clone(), whole[64:].clone()
    apart = (y.data_ptr() - x.data_ptr()) // 4
    found = only(run(copy_kernel, (4,), x, y, 64, apart, 0, B=16), "out_of_bounds", copy_kernel, "v =")
    assert found.argument == "x" and found.lanes == 64


def test_before_and_behind_at_once():
    @triton.jit
    def around_kernel(x, out, n, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(out + i, tl.load(x + i - 1))

    found = only(
        run(around_kernel, (1,), randn(14), torch.zeros(16), 14, B=16), "out_of_bounds", around_kernel, "tl.load"
    )
    assert "4 bytes behind the end" in found.text and "4 bytes before the beginning" in found.text


def test_views_within_a_storage_are_no_other_tensors():
    whole = randn(128)
    assert run(copy_kernel, (4,), whole[:64], torch.zeros(64), 64, 32, 64, B=16) == []


@triton.jit
def columns_kernel(x, out, rows, columns, stride, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R), tl.arange(0, C)
    at = r[:, None] * stride + c[None, :]
    tl.store(out + r[:, None] * C + c[None, :], tl.load(x + at, mask=c[None, :] < columns, other=0.0))


def test_one_row_too_many():
    found = only(
        run(columns_kernel, (1,), randn(7, 10), torch.zeros(8, 16), 7, 10, 10, R=8, C=16),
        "out_of_bounds",
        columns_kernel,
        "tl.load",
    )
    assert found.lanes == 10 and "reads up to 40 bytes behind" in found.text
    assert run(columns_kernel, (1,), randn(8, 10), torch.zeros(8, 16), 7, 10, 10, R=8, C=16) == []


@triton.jit
def wide_offset_kernel(x, out, stride, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(out + row * B + i, tl.load(x + row * stride + i))


def test_offset_that_overflows_32_bits():
    """Row 3 of 2^30 elements each: the product is -2^30."""
    found = only(
        run(wide_offset_kernel, (4,), torch.zeros(64, dtype=torch.int8), torch.zeros(64, dtype=torch.int8), 1 << 30, B=16),
        "out_of_bounds", wide_offset_kernel, "tl.load",
    )  # fmt: skip
    assert found.program == (1, 0, 0)
    assert "before the beginning" in found.text and "behind the end" in found.text


@triton.jit
def gather_kernel(x, index, out, n, CLAMP: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    at = tl.load(index + i, mask=i < n, other=0)
    if CLAMP:
        at = tl.minimum(tl.maximum(at, 0), 9)
    tl.store(out + i, tl.load(x + at, mask=i < n, other=0.0), mask=i < n)


def test_negative_index():
    index = torch.tensor([3, 4, -1, 9, 0, -2, 5])
    found = only(
        run(gather_kernel, (1,), randn(10), index, torch.zeros(7), 7, CLAMP=False, B=8),
        "out_of_bounds",
        gather_kernel,
        "tl.load(x",
    )
    assert found.text == "reads up to 8 bytes before the beginning of x (40 bytes), 2 lanes"
    assert run(gather_kernel, (1,), randn(10), index, torch.zeros(7), 7, CLAMP=True, B=8) == []


@triton.jit
def block_kernel(x, out, M, N, stride, LOAD: tl.constexpr, STORE: tl.constexpr, B: tl.constexpr):
    p = tl.make_block_ptr(x, (M, N), (stride, 1), (0, tl.program_id(0) * B), (B, B), (1, 0))
    q = tl.make_block_ptr(out, (M, N), (N, 1), (0, tl.program_id(0) * B), (B, B), (1, 0))
    tl.store(q, tl.load(p, boundary_check=LOAD), boundary_check=STORE)


@pytest.mark.parametrize(
    ("load", "store", "found"),
    [
        ((0, 1), (0, 1), []),
        ((), (0, 1), ["x"]),
        ((0, 1), (), ["out"]),
        ((1,), (0, 1), ["x"]),
        ((0,), (0, 1), ["x"]),
    ],
)
def test_block_pointers_with_and_without_boundary_check(load, store, found):
    """The last row and the columns behind it are outside: row 12 of 13 and column 20 of 21 are the last ones."""
    findings = run(block_kernel, (2,), randn(13, 21), torch.zeros(13, 21), 13, 21, 21, LOAD=load, STORE=store, B=16)
    assert [f.argument for f in findings if f.kind == "out_of_bounds"] == found, [str(f) for f in findings]


def test_block_pointer_with_a_wrong_shape():
    """The kernel is told of more rows than there are."""
    findings = run(block_kernel, (2,), randn(13, 21), torch.zeros(16, 21), 16, 21, 21, LOAD=(0, 1), STORE=(0, 1), B=16)
    assert [(f.kind, f.argument) for f in findings] == [("out_of_bounds", "x")]


@triton.jit
def described_kernel(x, out, M, N, B: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [B, B])
    e = tl.make_tensor_descriptor(out, [M, N], [N, 1], [B, B])
    at = tl.program_id(0) * B
    e.store([at, 0], d.load([at, 0]))


def test_descriptors_clip():
    x, out = randn(20, 12), torch.zeros(20, 12)
    assert run(described_kernel, (2,), x, out, 20, 12, B=16) == [] and torch.equal(x, out)


def test_descriptor_of_more_than_there_is():
    findings = run(described_kernel, (2,), randn(20, 12), torch.zeros(24, 12), 24, 12, B=16)
    assert [(f.kind, f.argument, f.lanes) for f in findings] == [("out_of_bounds", "x", 48)]


@triton.jit
def host_described_kernel(d, e, B: tl.constexpr):
    at = tl.program_id(0) * B
    e.store([at, 0], d.load([at, 0]))


def test_host_descriptors_clip():
    x, out = randn(20, 16), torch.zeros(20, 16)
    pair = (TensorDescriptor.from_tensor(x, [16, 16]), TensorDescriptor.from_tensor(out, [16, 16]))
    assert run(host_described_kernel, (2,), *pair, B=16) == [] and torch.equal(x, out)


@triton.jit
def atomics_kernel(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out + i // 4, tl.load(x + i, mask=i < n, other=0.0))


def test_atomics_outside():
    """The value is masked, the update is not."""
    found = only(
        run(atomics_kernel, (2,), randn(60), torch.zeros(15), 60, B=32),
        "out_of_bounds",
        atomics_kernel,
        "tl.atomic_add",
    )
    assert found.text == "updates up to 4 bytes behind the end of out (60 bytes), 4 lanes" and found.program == (
        1,
        0,
        0,
    )
    assert run(atomics_kernel, (2,), randn(60), torch.zeros(16), 60, B=32) == []


@triton.jit
def scalar_kernel(x, out, n):
    p = tl.program_id(0)
    tl.store(out + p, tl.load(x + p) + tl.load(x + p + 1))


def test_scalar_read_behind():
    found = only(run(scalar_kernel, (4,), randn(4), torch.zeros(4), 4), "out_of_bounds", scalar_kernel, "tl.store")
    assert found.program == (3, 0, 0) and found.lanes == 1


def test_tensor_of_one_element():
    assert run(copy_kernel, (1,), randn(1), torch.zeros(1), 1, 0, 1, B=16) == []
    found = only(
        run(copy_kernel, (1,), randn(1), torch.zeros(1), 1, 0, 2, B=16), "out_of_bounds", copy_kernel, "tl.store"
    )
    assert found.lanes == 1


def test_empty_tensors():
    """Their address is null: an access is named after the argument all the same."""
    assert run(copy_kernel, (1,), torch.zeros(0), torch.zeros(0), 0, 0, 0, B=16) == []
    found = only(
        run(copy_kernel, (1,), torch.zeros(0), torch.zeros(16), 16, 0, 16, B=16), "out_of_bounds", copy_kernel, "v ="
    )
    assert found.argument == "x" and "behind the end of x (0 bytes)" in found.text


@triton.jit
def hidden_by_other_kernel(x, out, n, total, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i <= n, other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(tl.where(i < n, v, 0.0), 0))


def test_bad_mask_that_is_repaired_later():
    found = only(
        run(hidden_by_other_kernel, (2,), randn(30), torch.zeros(2), 30, 32, B=16),
        "out_of_bounds",
        hidden_by_other_kernel,
        "v =",
    )
    assert found.program == (1, 0, 0) and found.lanes == 1


@triton.jit
def selected_kernel(x, y, out, n, B: tl.constexpr):
    """A pointer that is one of two: which tensor it means is seen by its address."""
    i = tl.arange(0, B)
    source = x if tl.program_id(0) % 2 == 0 else y
    tl.store(out + tl.program_id(0) * B + i, tl.load(source + i, mask=i < n))


def test_pointer_that_is_one_of_two():
    assert run(selected_kernel, (2,), randn(16), randn(16), torch.zeros(32), 16, B=16) == []
    found = only(
        run(selected_kernel, (2,), randn(16), randn(12), torch.zeros(32), 16, B=16),
        "out_of_bounds",
        selected_kernel,
        "tl.load",
    )
    assert found.argument == "y" and found.lanes == 4 and found.program == (1, 0, 0)


@triton.jit
def advanced_kernel(x, out, n, turns, B: tl.constexpr):
    i = tl.arange(0, B)
    at = x + i
    total = tl.zeros((B,), tl.float32)
    for _ in range(turns):
        total += tl.load(at)
        at += B
    tl.store(out + i, total)


def test_loop_that_goes_on_once_too_often():
    assert run(advanced_kernel, (1,), randn(64), torch.zeros(16), 64, 4, B=16) == []
    found = only(
        run(advanced_kernel, (1,), randn(64), torch.zeros(16), 64, 5, B=16), "out_of_bounds", advanced_kernel, "tl.load"
    )
    assert found.lanes == 16


@triton.jit
def halo_kernel(x, out, n, MASK: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if MASK:
        left = tl.load(x + i - 1, mask=(i > 0) & (i <= n), other=0.0)
        right = tl.load(x + i + 1, mask=i + 1 < n, other=0.0)
    else:
        left = tl.load(x + tl.maximum(i - 1, 0), mask=i < n, other=0.0)
        right = tl.load(x + tl.minimum(i + 1, n - 1), mask=i < n, other=0.0)
    tl.store(out + i, left + right, mask=i < n)


@pytest.mark.parametrize("mask", [True, False])
def test_stencil_with_its_border(mask):
    assert run(halo_kernel, (4,), randn(60), torch.zeros(60), 60, MASK=mask, B=16) == []


@triton.jit
def wrapped_kernel(x, out, M, N, B: tl.constexpr):
    """Rows modulo their number: what is read twice is masked when it is stored."""
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.arange(0, B)
    v = tl.load(x + (r % M)[:, None] * N + (c % N)[None, :])
    tl.store(out + r[:, None] * N + c[None, :], v, mask=(r[:, None] < M) & (c[None, :] < N))


def test_indices_modulo_the_size():
    x, out = randn(20, 12), torch.zeros(20, 12)
    assert run(wrapped_kernel, (2,), x, out, 20, 12, B=16) == [] and torch.equal(x, out)


def test_negative_strides_by_a_pointer_to_the_end():
    @triton.jit
    def flipped_kernel(x, out, n, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(out + i, tl.load(x + n - 1 - i, mask=i < n), mask=i < n)

    x, out = randn(13), torch.zeros(13)
    assert run(flipped_kernel, (1,), x, out, 13, B=16) == [] and torch.equal(out, x.flip(0))
    assert len(run(flipped_kernel, (1,), x, torch.zeros(14), 14, B=16)) == 1


def test_address_that_is_cast_to_a_number_and_back():
    @triton.jit
    def cast_kernel(x, out, far, B: tl.constexpr):
        i = tl.arange(0, B)
        at = (x.to(tl.int64) + far + i * 4).to(tl.pointer_type(tl.float32))
        tl.store(out + i, tl.load(at))

    x = randn(16)
    assert run(cast_kernel, (1,), x, torch.zeros(16), 0, B=16) == []
    found = only(run(cast_kernel, (1,), x, torch.zeros(16), 4, B=16), "out_of_bounds", cast_kernel, "tl.load")
    assert found.argument == "x" and found.lanes == 1


def test_wide_type_over_a_tail():
    """Eight bytes at a time over an odd number of floats."""

    @triton.jit
    def paired_kernel(x, out, n, B: tl.constexpr):
        i = tl.arange(0, B)
        pairs, to = x.to(tl.pointer_type(tl.int64)), out.to(tl.pointer_type(tl.int64))
        tl.store(to + i, tl.load(pairs + i, mask=i * 2 < n), mask=i * 2 < n)

    assert run(paired_kernel, (1,), randn(14), torch.zeros(14), 14, B=8) == []
    findings = run(paired_kernel, (1,), randn(15), torch.zeros(15), 15, B=8)
    assert {(f.kind, f.argument, f.lanes) for f in findings} == {("out_of_bounds", "x", 1), ("out_of_bounds", "out", 1)}
    assert all("4 bytes behind the end" in f.text for f in findings)
    assert line_of(paired_kernel, "tl.load") == findings[0].line
