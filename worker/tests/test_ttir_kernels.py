"""Whole kernels, compiled by Triton and executed from their IR, compared with torch and with the interpreter of Python."""

import tracemalloc

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.tools.tensor_descriptor import TensorDescriptor
from ttir_launch import interpreted, run

from kbx.ttir.launch import REVERSED, SHUFFLED


def clean(findings):
    assert findings == [], [str(finding) for finding in findings]


def both(function, grid, make, *results, tolerance=None, **constants):
    """Runs a kernel both ways on equal arguments; returns those of the first, whose ``results`` (positions) agree with the other's."""
    mine, theirs = make(), make()
    clean(run(function, grid, *mine, **constants))
    interpreted(function, grid, *theirs, **constants)
    for position in results:
        if tolerance is None:
            assert torch.equal(mine[position], theirs[position])
        else:
            torch.testing.assert_close(mine[position], theirs[position], rtol=tolerance, atol=tolerance)
    return mine


def random(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


# ---------------------------------------------------------------- rows and elements


@triton.jit
def add_kernel(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int32])
def test_elementwise(dtype):
    x, y = ((random(1000, seed=s) * 9).to(dtype) for s in (1, 2))
    _, _, out, _ = both(add_kernel, (8,), lambda: [x, y, torch.zeros(1000, dtype=dtype), 1000], 2, B=128)
    assert torch.equal(out, x + y)


@triton.jit
def softmax_kernel(x, out, stride, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * stride + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + i, e / tl.sum(e, axis=0), mask=i < n)


@pytest.mark.parametrize("n", [1, 37, 200])
def test_softmax(n):
    x = random(33, n) * 3
    _, out, *_ = both(softmax_kernel, (33,), lambda: [x, torch.zeros(33, n), n, n], 1, tolerance=1e-6, B=256)
    torch.testing.assert_close(out, x.softmax(-1))


@triton.jit
def layer_norm_kernel(x, w, b, out, mean, rstd, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    m = i < n
    v = tl.load(x + row * n + i, mask=m, other=0.0)
    mu = tl.sum(v, axis=0) / n
    d = tl.where(m, v - mu, 0.0)
    r = 1 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    tl.store(mean + row, mu)
    tl.store(rstd + row, r)
    tl.store(out + row * n + i, d * r * tl.load(w + i, mask=m) + tl.load(b + i, mask=m), mask=m)


@triton.jit
def layer_norm_backward_kernel(x, w, dy, mean, rstd, dx, dw, db, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    m = i < n
    g = tl.load(dy + row * n + i, mask=m, other=0.0)
    h = (tl.load(x + row * n + i, mask=m, other=0.0) - tl.load(mean + row)) * tl.load(rstd + row)
    h = tl.where(m, h, 0.0)
    wg = g * tl.load(w + i, mask=m, other=0.0)
    c1 = tl.sum(h * wg, axis=0) / n
    c2 = tl.sum(wg, axis=0) / n
    tl.store(dx + row * n + i, (wg - (h * c1 + c2)) * tl.load(rstd + row), mask=m)
    tl.atomic_add(dw + i, g * h, mask=m)
    tl.atomic_add(db + i, g, mask=m)


@pytest.mark.parametrize("order", ["ascending", REVERSED, SHUFFLED])
def test_layer_norm_and_its_gradient_with_atomics(order):
    rows, n = 70, 100
    x, w, b, dy = random(rows, n), random(n, seed=1), random(n, seed=2), random(rows, n, seed=3)
    out, mean, rstd = torch.zeros(rows, n), torch.zeros(rows), torch.zeros(rows)
    clean(run(layer_norm_kernel, (rows,), x, w, b, out, mean, rstd, n, 1e-5, order=order, B=128))
    torch.testing.assert_close(out, torch.nn.functional.layer_norm(x, (n,), w, b), rtol=1e-5, atol=1e-5)
    # Not by autograd: its threads would be lost to every process that a later test forks.
    moments = mean[:, None], rstd[:, None]
    expected = torch.ops.aten.native_layer_norm_backward(dy, x, (n,), *moments, w, b, [True, True, True])
    dx, dw, db = torch.zeros(rows, n), torch.zeros(n), torch.zeros(n)
    clean(run(layer_norm_backward_kernel, (rows,), x, w, dy, mean, rstd, dx, dw, db, n, order=order, B=128))
    for got, wanted in zip((dx, dw, db), expected, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)


def test_memory_is_bounded_by_the_chunk():
    """Two million elements, whose values and offsets would take 200 MB together."""
    x, out = torch.randn(2048, 1000), torch.zeros(2048, 1000)
    tracemalloc.start()
    clean(run(softmax_kernel, (2048,), x, out, 1000, 1000, B=1024))
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()
    torch.testing.assert_close(out, x.softmax(-1))


# ---------------------------------------------------------------- matrices


@triton.jit
def matmul_kernel(a, b, c, M, N, K, P: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (k0 + k)[None, :], mask=(m[:, None] < M) & ((k0 + k)[None, :] < K), other=0.0)
        y = tl.load(b + (k0 + k)[:, None] * N + n[None, :], mask=((k0 + k)[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc, input_precision=P)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@pytest.mark.parametrize("precision", ["ieee", "tf32", "tf32x3"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float8_e5m2])
def test_matrix_product(dtype, precision):
    a, b = random(70, 90).to(dtype), random(90, 50, seed=1).to(dtype)
    out = torch.zeros(70, 50)
    clean(run(matmul_kernel, (3, 2), a, b, out, 70, 50, 90, P=precision, BM=32, BN=32, BK=32))
    exact = a.double() @ b.double()
    error = (out.double() - exact).abs().max().item()
    if dtype == torch.float32 and precision == "tf32":
        assert 1e-4 < error < 5e-2
        cut = a.view(torch.int32) & ~0x1FFF, b.view(torch.int32) & ~0x1FFF  # the bits that tensor cores look at
        seen = cut[0].view(torch.float32).double() @ cut[1].view(torch.float32).double()
        assert (out.double() - seen).abs().max() < 2e-5
    else:
        assert error < 1e-5 * 20


def test_products_in_parts_are_nearly_as_exact_as_float32():
    a, b = random(64, 64), random(64, 64, seed=1)
    exact, errors = a.double() @ b.double(), {}
    for precision in ("tf32", "tf32x3", "bf16x3", "bf16x6", "ieee"):
        out = torch.zeros(64, 64)
        clean(run(matmul_kernel, (2, 2), a, b, out, 64, 64, 64, P=precision, BM=32, BN=32, BK=32))
        errors[precision] = (out.double() - exact).abs().max().item()
    assert errors["tf32"] > 100 * errors["tf32x3"] and errors["tf32"] > errors["bf16x3"] > errors["bf16x6"]
    assert errors["bf16x6"] < 4 * errors["ieee"]


@triton.jit
def integer_matmul_kernel(a, b, c, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(a + i[:, None] * B + i[None, :])
    y = tl.load(b + i[:, None] * B + i[None, :])
    tl.store(c + i[:, None] * B + i[None, :], tl.dot(x, y, out_dtype=tl.int32))


def test_product_of_integers_is_exact():
    a, b = (
        torch.randint(-128, 128, (32, 32), dtype=torch.int8, generator=torch.Generator().manual_seed(s)) for s in (0, 1)
    )
    _, _, out = both(integer_matmul_kernel, (1,), lambda: [a, b, torch.zeros(32, 32, dtype=torch.int32)], 2, B=32)
    assert torch.equal(out, a.int() @ b.int())


@triton.jit
def attention_kernel(q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    base = head * n * D
    x = tl.load(q + base + rows[:, None] * D + d[None, :], mask=rows[:, None] < n, other=0.0)
    best = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BM, BN):
        c = start + tl.arange(0, BN)
        y = tl.load(k + base + c[None, :] * D + d[:, None], mask=c[None, :] < n, other=0.0)
        s = tl.dot(x, y, input_precision="ieee") * scale
        s = tl.where((rows[:, None] >= c[None, :]) & (c[None, :] < n), s, -float("inf"))
        new = tl.maximum(best, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(best - new)
        total = total * shrink + tl.sum(p, 1)
        z = tl.load(v + base + c[:, None] * D + d[None, :], mask=c[:, None] < n, other=0.0)
        acc = acc * shrink[:, None] + tl.dot(p.to(z.dtype), z, input_precision="ieee")
        best = new
    tl.store(
        out + base + rows[:, None] * D + d[None, :],
        (acc / total[:, None]).to(out.dtype.element_ty),
        mask=rows[:, None] < n,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_causal_attention_with_loops_of_different_length(dtype):
    n, heads, size = 100, 3, 32
    q, k, v = (random(heads, n, size, seed=s).to(dtype) for s in range(3))
    make = lambda: [q, k, v, torch.zeros(heads, n, size, dtype=dtype), n, size**-0.5]  # noqa: E731
    out = both(
        attention_kernel, (4, heads), make, 3, tolerance=1e-3 if dtype == torch.float16 else 1e-5, D=size, BM=32, BN=16
    )[3]
    expected = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True)
    torch.testing.assert_close(
        out.double(),
        expected,
        rtol=1e-2 if dtype == torch.float16 else 1e-5,
        atol=2e-3 if dtype == torch.float16 else 1e-5,
    )


# ---------------------------------------------------------------- control flow


@triton.jit
def collatz_kernel(x, out, n):
    i = tl.program_id(0)
    if i >= n:
        return
    v = tl.load(x + i)
    steps = 0
    while v != 1:
        if v % 2 == 0:  # noqa: SIM108
            v = v // 2
        else:
            v = 3 * v + 1
        steps += 1
    tl.store(out + i, steps)


def test_programs_that_diverge():
    x = torch.arange(1, 101, dtype=torch.int32)

    def steps(v):
        return 0 if v == 1 else 1 + steps(v // 2 if v % 2 == 0 else 3 * v + 1)

    _, out, _ = both(collatz_kernel, (128,), lambda: [x, torch.zeros(100, dtype=torch.int32), 100], 1)
    assert out.tolist() == [steps(v) for v in range(1, 101)]


@triton.jit(noinline=True)
def clipped(x, low):
    if x < low:
        return low
    return x * 2


@triton.jit
def calls_kernel(x, out):
    i = tl.program_id(0)
    tl.store(out + i, clipped(tl.load(x + i), 3))


def test_calls_of_functions_that_branch():
    x = torch.arange(10, dtype=torch.int32)
    out = torch.zeros(10, dtype=torch.int32)
    clean(run(calls_kernel, (10,), x, out))
    assert out.tolist() == [3, 3, 3, *(2 * v for v in range(3, 10))]


@triton.jit
def early_kernel(x, out, n, B: tl.constexpr):
    i = tl.program_id(0)
    if i % 3 == 0:
        return
    total = tl.load(x + i) * 0
    for j in range(i % 4):
        if j == 2:
            total += 100
        total += tl.load(x + i * B + j)
    if i % 3 == 1:
        total = -total
    tl.store(out + i, total)


def test_early_returns_loops_and_branches():
    x = torch.arange(64.0)
    out = both(early_kernel, (16,), lambda: [x, torch.zeros(16), 16], 1, B=4)[1]
    assert out[0] == 0 and out[7] == -(28 + 29 + 30 + 100)


# ---------------------------------------------------------------- combining


@triton.jit
def scan_kernel(x, out, sums, last, N: tl.constexpr):
    i = tl.arange(0, N)
    row = tl.program_id(0)
    v = tl.load(x + row * N + i)
    tl.store(out + row * N + i, tl.cumsum(v, 0))
    tl.store(sums + row * N + i, tl.cumsum(v, 0, reverse=True))
    tl.store(last + row * N + i, tl.associative_scan(v, 0, larger))


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


def test_scans():
    x = random(5, 64)
    make = lambda: [x, *(torch.zeros(5, 64) for _ in range(3))]  # noqa: E731
    _, out, sums, last = both(scan_kernel, (5,), make, 1, 2, 3, tolerance=1e-5, N=64)
    torch.testing.assert_close(out, x.cumsum(1))
    torch.testing.assert_close(sums, x.flip(1).cumsum(1).flip(1))
    assert torch.equal(last, x.cummax(1).values)


@triton.jit
def recurrence(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def linear_scan_kernel(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    _, y = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, recurrence)
    tl.store(out + i, y)


def test_scan_of_pairs():
    a, b, out = random(64).sigmoid(), random(64, seed=1), torch.zeros(64)
    clean(run(linear_scan_kernel, (1,), a, b, out, N=64))
    state, expected = 0.0, []
    for x, y in zip(a.double().tolist(), b.double().tolist(), strict=True):
        state = state * x + y
        expected.append(state)
    torch.testing.assert_close(out.double(), torch.tensor(expected, dtype=torch.float64), rtol=1e-5, atol=1e-5)


@triton.jit
def summary_kernel(x, best, where, bits, N: tl.constexpr):
    i = tl.arange(0, N)
    row = tl.program_id(0)
    v = tl.load(x + row * N + i)
    m, at = tl.max(v, axis=0, return_indices=True)
    tl.store(best + row, m)
    tl.store(where + row, at)
    tl.store(bits + row, tl.xor_sum((v * 100).to(tl.int32), axis=0))


def test_reductions_of_pairs_and_of_bits():
    x = random(7, 128)
    x[2, 5] = x[2, 9] = 99.0
    make = lambda: [x, torch.zeros(7), torch.zeros(7, dtype=torch.int32), torch.zeros(7, dtype=torch.int32)]  # noqa: E731
    _, best, where, _ = both(summary_kernel, (7,), make, 1, 2, 3, N=128)
    assert torch.equal(best, x.max(1).values) and where[2] == 5


@triton.jit
def histogram_kernel(x, out, n, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    counts = tl.histogram(tl.load(x + i, mask=i < n, other=0), BINS, mask=i < n)
    tl.atomic_add(out + tl.arange(0, BINS), counts)


def test_histogram_leaves_out_what_is_masked_or_outside():
    x = torch.randint(-3, 20, (500,), dtype=torch.int32, generator=torch.Generator().manual_seed(0))
    out = torch.zeros(16, dtype=torch.int32)
    clean(run(histogram_kernel, (4,), x, out, 500, N=128, BINS=16))
    assert out.tolist() == [(x == b).sum().item() for b in range(16)]


@triton.jit
def gather_kernel(x, index, out, N: tl.constexpr):
    i = tl.arange(0, N)
    j = tl.arange(0, 8)
    v = tl.load(x + j[:, None] * N + i[None, :])
    at = tl.load(index + j[:, None] * N + i[None, :])
    tl.store(out + j[:, None] * N + i[None, :], tl.gather(v, at, 1))


def test_gather():
    x, index = (
        random(8, 32),
        torch.randint(0, 32, (8, 32), dtype=torch.int32, generator=torch.Generator().manual_seed(0)),
    )
    out = torch.zeros(8, 32)
    clean(run(gather_kernel, (1,), x, index, out, N=32))
    assert torch.equal(out, x.gather(1, index.long()))


@triton.jit
def shapes_kernel(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + tl.arange(0, 2 * N), tl.interleave(a, b))
    both_halves = tl.permute(tl.join(a, b), (1, 0))
    tl.store(out + 2 * N + tl.arange(0, 2 * N), tl.reshape(both_halves, (2 * N,)))
    left, right = tl.split(tl.join(a, b))
    tl.store(out + 4 * N + i, left - right)
    tl.store(out + 5 * N + i, tl.sort(a))
    square = tl.reshape(a, (4, N // 4))
    tl.store(out + 6 * N + i, tl.reshape(tl.trans(square), (N,)))


def test_shapes():
    x, y = random(32), random(32, seed=1)
    _, _, out = both(shapes_kernel, (1,), lambda: [x, y, torch.zeros(7 * 32)], 2, N=32)
    expected = [torch.stack([x, y], 1).flatten(), x, y, x - y, x.sort().values, x.reshape(4, 8).T.flatten()]
    assert torch.equal(out, torch.cat(expected))


@triton.jit
def branch_of_lane(x, y):
    if x > 0:
        return x * y
    return y - 1


@triton.jit
def map_kernel(x, y, out, N: tl.constexpr, PACK: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + i, tl.map_elementwise(branch_of_lane, tl.load(x + i), tl.load(y + i)))


def test_scalar_code_mapped_over_lanes():
    x, y, out = random(128), random(128, seed=1), torch.zeros(128)
    clean(run(map_kernel, (2,), x, y, out, N=64, PACK=1))
    assert torch.equal(out, torch.where(x > 0, x * y, y - 1))


@triton.jit
def random_kernel(out, bits, seed, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + i, tl.rand(seed, i))
    tl.store(bits + i, tl.randint(seed, i))


def test_random_numbers_are_those_of_the_interpreter():
    make = lambda: [torch.zeros(256), torch.zeros(256, dtype=torch.int32), 1234]  # noqa: E731
    out = both(random_kernel, (4,), make, 0, 1, N=64)[0]
    assert 0.4 < out.mean() < 0.6 and out.unique().numel() > 250


@triton.jit
def functions_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(
        out + i,
        libdevice.tanh(v) + libdevice.pow(tl.abs(v), 1.5) + tl.erf(v) + tl.sigmoid(v) + libdevice.lgamma(tl.abs(v) + 1),
    )


def test_functions_of_libdevice():
    x = random(64)
    _, out = both(functions_kernel, (1,), lambda: [x, torch.zeros(64)], 1, tolerance=1e-6, N=64)
    d = x.double()
    torch.testing.assert_close(
        out.double(), d.tanh() + d.abs() ** 1.5 + d.erf() + d.sigmoid() + (d.abs() + 1).lgamma(), rtol=1e-6, atol=1e-6
    )


# ---------------------------------------------------------------- descriptors and block pointers


@triton.jit
def descriptor_kernel(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    target = tl.make_tensor_descriptor(out, [M, N], [N, 1], [BM, BN])
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    target.store(at, source.load(at) * 2)


@pytest.mark.parametrize("capability", [80, 90])
def test_descriptors_clip(capability):
    """For sm_80 Triton makes pointers and masks of them."""
    x, out = random(37, 68), torch.zeros(37, 68)
    clean(run(descriptor_kernel, (3, 3), x, out, 37, 68, capability=capability, BM=16, BN=32))
    assert torch.equal(out, x * 2)


@triton.jit
def reduce_descriptor_kernel(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    target = tl.make_tensor_descriptor(out, [BM, BN], [BN, 1], [BM, BN])
    target.atomic_add([0, 0], source.load([tl.program_id(0) * BM, 0]))


def test_descriptors_add_atomically():
    x, out = random(40, 16), torch.zeros(8, 16)
    clean(run(reduce_descriptor_kernel, (5,), x, out, 40, 16, BM=8, BN=16))
    torch.testing.assert_close(out, x.reshape(5, 8, 16).sum(0))


@triton.jit
def host_kernel(source, target, n, B: tl.constexpr):
    at = [tl.program_id(0) * 8, n]
    target.store(at, source.load(at) * 2)


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("rounds", [False, True])
def test_descriptors_of_the_host(capability, rounds):
    """For sm_80 Triton makes a pointer and numbers of each, and has a flag of rounding from 3.7 on."""
    if rounds and capability == 80 and triton.__version__.startswith("3.6."):
        pytest.skip("no such flag")
    x, out = random(21, 16), torch.full((21, 16), 9.0)
    source, target = (TensorDescriptor.from_tensor(t, [8, 16]) for t in (x, out))
    source.round_f32_to_tf32 = rounds
    clean(run(host_kernel, (3,), source, target, 4, capability=capability, B=4))
    expected = torch.full((21, 16), 9.0)
    expected[:, 4:] = 2 * x[:, 4:]
    if rounds:
        assert not torch.equal(out, expected)
        torch.testing.assert_close(out, expected, rtol=1e-3, atol=1e-3)
    else:
        assert torch.equal(out, expected)


@triton.jit
def block_pointer_kernel(x, out, M, N, B: tl.constexpr):
    source = tl.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * B, 0), (B, B), (1, 0))
    acc = tl.zeros((B, B), tl.float32)
    for _ in range(0, N, B):
        acc += tl.load(source, boundary_check=(0, 1), padding_option="zero")
        source = tl.advance(source, (0, B))
    target = tl.make_block_ptr(out, (M, B), (B, 1), (tl.program_id(0) * B, 0), (B, B), (1, 0))
    tl.store(target, acc, boundary_check=(0,))


@pytest.mark.filterwarnings("ignore:tl.make_block_ptr")
def test_block_pointers():
    x, out = random(21, 40), torch.zeros(21, 16)
    clean(run(block_pointer_kernel, (2,), x, out, 21, 40, B=16))
    padded = torch.nn.functional.pad(x, (0, 8)).reshape(21, 3, 16)
    torch.testing.assert_close(out, padded.sum(1))


# ---------------------------------------------------------------- microscaling


@triton.jit
def scaled_kernel(a, b, sa, sb, out, KIND: tl.constexpr, PACK: tl.constexpr, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    k = tl.arange(0, K // PACK)
    g = tl.arange(0, K // 32)
    x = tl.load(a + i[:, None] * (K // PACK) + k[None, :])
    y = tl.load(b + i[None, :] * (K // PACK) + k[:, None])
    s = tl.load(sa + i[:, None] * (K // 32) + g[None, :])
    t = tl.load(sb + i[:, None] * (K // 32) + g[None, :])
    tl.store(out + i[:, None] * B + i[None, :], tl.dot_scaled(x, s, KIND, y, t, KIND))


@pytest.mark.parametrize("kind", ["e2m1", "e4m3", "e5m2"])
def test_scaled_products(kind):
    B, K, pack = 32, 64, 2 if kind == "e2m1" else 1
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randint(0, 120, (B, K // pack), dtype=torch.uint8, generator=generator) for _ in range(2))
    sa, sb = (torch.randint(120, 134, (B, K // 32), dtype=torch.uint8, generator=generator) for _ in range(2))
    out = torch.zeros(B, B)
    clean(run(scaled_kernel, (1,), a, b, sa, sb, out, capability=100, KIND=kind, PACK=pack, B=B, K=K))
    table = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], dtype=torch.float64)

    def value(raw, scale):
        if kind == "e2m1":
            v = torch.stack([table[(raw & 15).long()], table[(raw >> 4).long()]], -1).reshape(B, K)
        else:
            v = raw.view(torch.float8_e4m3fn if kind == "e4m3" else torch.float8_e5m2).double()
        return v * 2.0 ** (scale.double() - 127).repeat_interleave(32, 1)

    torch.testing.assert_close(out.double(), value(a, sa) @ value(b, sb).T, rtol=1e-5, atol=1e-3)
