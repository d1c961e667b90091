"""Kernels through the whole launch path on the CPU: bound, compiled for sm_90, executed from their IR, compared with torch."""

import textwrap

import pytest
import torch
from bench_client import bench

pytestmark = pytest.mark.sampled(12)


MAP = """
@triton.jit
def kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    a = tl.load(x + i, mask=m)
    b = tl.load(y + i, mask=m)
    tl.store(out + i, {expression}, mask=m)

def run(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    kernel[(triton.cdiv(n, 128),)](x, y, out, n, BLOCK=128)
    return out
"""

FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def pair(dtype=torch.float32, n=300):
    generator = torch.Generator().manual_seed(1)
    return (torch.randn(2, n, generator=generator) * 3).to(dtype).unbind()


def elementwise(expression, x, y):
    with bench(MAP.format(expression=expression)) as client:
        return client.run(x, y)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("operator", ["+", "-", "*", "/"])
def test_arithmetic_rounds_as_torch_does(dtype, operator):
    x, y = pair(dtype)
    expected = eval(f"x {operator} y")
    torch.testing.assert_close(elementwise(f"a {operator} b", x, y), expected, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_comparison_select_and_negation(dtype):
    x, y = pair(dtype)
    expected = torch.where((x > y) & ~(x < 0), -x, y.abs())
    got = elementwise("tl.where((a > b) & (not (a < 0)), -a, tl.abs(b))", x, y)
    torch.testing.assert_close(got, expected, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("tl.exp(a) + tl.exp2(b) + tl.log(a * a + 1.0)", lambda a, b: a.exp() + b.exp2() + (a * a + 1).log()),
        ("tl.sigmoid(a) * tl.math.rsqrt(b * b + 1)", lambda a, b: a.sigmoid() * (b * b + 1).rsqrt()),
        ("tl.erf(a) + tl.sqrt(tl.abs(b))", lambda a, b: a.erf() + b.abs().sqrt()),
        ("tl.sin(a) + tl.cos(b) + tl.floor(a) + tl.ceil(b)", lambda a, b: a.sin() + b.cos() + a.floor() + b.ceil()),
        ("tl.fma(a, b, a)", lambda a, b: a * b + a),
        ("tl.maximum(a, b) - tl.minimum(a, 0.5)", lambda a, b: torch.maximum(a, b) - a.clamp(max=0.5)),
        ("tl.clamp(a, -1.0, 1.0)", lambda a, b: a.clamp(-1, 1)),
        ("libdevice.tanh(a) + libdevice.pow(tl.abs(a), b)", lambda a, b: a.tanh() + a.abs().pow(b)),
        ("libdevice.expm1(a) + libdevice.log1p(tl.abs(b))", lambda a, b: a.expm1() + b.abs().log1p()),
        ("libdevice.atan2(a, b) + libdevice.asinh(a)", lambda a, b: torch.atan2(a, b) + a.asinh()),
        ("libdevice.lgamma(tl.abs(a) + 1) + libdevice.erfinv(b / 20)", lambda a, b: (a.abs() + 1).lgamma() + (b / 20).erfinv()),
        ("libdevice.round(a) + libdevice.trunc(b) + libdevice.rint(a)", lambda a, b: a.round() + b.trunc() + a.round()),
        ("libdevice.fmod(a, b) + libdevice.copysign(a, b)", lambda a, b: a.fmod(b) + a.copysign(b)),
        ("libdevice.div_rn(a, b) + libdevice.fast_expf(a)", lambda a, b: a / b + a.exp()),
        ("tl.where(libdevice.isnan(a), b, a)", lambda a, b: a),
        ("tl.extra.cuda.libdevice.normcdf(a) + b", lambda a, b: torch.special.ndtr(a) + b),
    ],
)  # fmt: skip
def test_math_functions(expression, expected):
    x, y = pair()
    torch.testing.assert_close(elementwise(expression, x, y), expected(x, y), rtol=1e-5, atol=2e-5)


def test_libdevice_imported_by_name():
    source = "from triton.language.extra.cuda.libdevice import tanh as hyperbolic\nfrom triton.language import exp\n"
    x, y = pair()
    with bench(source + MAP.format(expression="hyperbolic(a) + exp(b)")) as client:
        torch.testing.assert_close(client.run(x, y), x.tanh() + y.exp())


def test_nan_is_dropped_by_maximum_unless_propagated():
    x, y = torch.tensor([float("nan"), 1.0]), torch.tensor([2.0, float("nan")])
    assert elementwise("tl.maximum(a, b)", x, y).tolist() == [2.0, 1.0]
    assert elementwise("tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)", x, y).isnan().all()


def test_integer_division_and_remainder_truncate():
    x, y = (
        torch.tensor([7, -7, 7, -7, 2**31 - 1], dtype=torch.int32),
        torch.tensor([2, 2, -2, -2, 3], dtype=torch.int32),
    )
    expected = torch.div(x, y, rounding_mode="trunc") * 10 + torch.fmod(x, y)
    assert torch.equal(elementwise("(a // b) * 10 + a % b", x, y), expected)


def test_float_to_integer_saturates():
    x = torch.tensor([3.9, -3.9, 1e20, -1e20, float("nan")])
    got = elementwise("a.to(tl.int32).to(tl.float64)", x, x)
    assert got.tolist() == [3.0, -3.0, float(2**31), -float(2**31), 0.0]


CAST = """
@triton.jit
def kernel(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i).to(out.dtype.element_ty))

def run(x, dtype):
    out = torch.empty(x.shape, dtype=dtype, device="cuda")
    kernel[(1,)](x, out, BLOCK=256)
    return out
"""


@pytest.mark.parametrize("source", [torch.float32, torch.float16, torch.bfloat16, torch.int32])
@pytest.mark.parametrize(
    "target", [torch.bfloat16, torch.float16, torch.float32, torch.float8_e4m3fn, torch.float8_e5m2, torch.int8]
)
def test_casts(source, target):
    if source == torch.int32 and target.itemsize == 1 and target.is_floating_point:
        pytest.skip("Triton has no such cast")
    x = (torch.randn(256, generator=torch.Generator().manual_seed(2)) * 40).to(source)
    with bench(CAST) as client:
        got = client.run(x, target)
    assert torch.equal(got.float(), x.to(target).float())


def test_fp8_saturates():
    x = torch.full((256,), 1e6)
    with bench(CAST) as client:
        assert client.run(x, torch.float8_e4m3fn).float().unique().tolist() == [448.0]


MATMUL = """
@triton.autotune(
    configs=[triton.Config({"BM": 32, "BN": 32, "BK": 32}, num_warps=64), triton.Config({"BM": 16, "BN": 32, "BK": 32}, num_warps=2)],
    key=["M", "N", "K"],
)
@triton.jit
def kernel(a, b, c, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, tl.cdiv(K, BK)):
        rk = k * BK + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * sam + rk[None, :] * sak, mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        y = tl.load(b + rk[:, None] * sbk + rn[None, :] * sbn, mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, y, out_dtype=ACC, input_precision="ieee")
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))

def run(a, b, dtype):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=dtype)
    grid = lambda meta: (triton.cdiv(M, meta["BM"]), triton.cdiv(N, meta["BN"]))
    kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), ACC=tl.int32 if dtype == torch.int32 else tl.float32)
    return c
"""


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.int8])
def test_autotuned_dot_on_strided_operands(dtype):
    """A block of the first configuration has 2048 threads, more than any GPU allows: the second must be taken."""
    generator = torch.Generator().manual_seed(3)
    a, b = torch.randn(40, 70, generator=generator) * 4, torch.randn(36, 70, generator=generator).t() * 4
    a, b = a.to(dtype), b.to(dtype)
    out = torch.int32 if dtype == torch.int8 else torch.float32 if dtype.itemsize == 1 else dtype
    with bench(MATMUL) as client:
        got = client.run(a, b, out)
    a, b = a.double(), b.double()
    truth = a @ b
    # Products and sums round to float32, in whatever order a processor adds them, and the result once more.
    summed = 0 if out == torch.int32 else 2 * a.shape[1] * 2**-24 * (a.abs() @ b.abs())
    stored = 0 if out == torch.int32 else torch.finfo(out).eps / 2 * (truth.abs() + summed)
    assert ((got.double() - truth).abs() <= summed + stored).all()


DOT = """
@triton.jit
def kernel(a, b, out, PRECISION: tl.constexpr):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    tl.store(out + at, tl.dot(tl.load(a + at), tl.load(b + at), input_precision=PRECISION))

def run(a, b, precision):
    out = torch.empty_like(a)
    kernel[(1,)](a, b, out, PRECISION=precision)
    return out
"""


@pytest.mark.parametrize(("precision", "cuts"), [(None, True), ("tf32", True), ("tf32x3", False), ("ieee", False)])
def test_dot_cuts_float32_operands_to_tf32_as_a_gpu_does(precision, cuts):
    exact, more = 1 + 2.0**-10, 1 + 2.0**-10 + 2.0**-11
    a = torch.eye(16).fill_diagonal_(more)
    b = torch.eye(16).fill_diagonal_(1.0)
    b[0, 0] = float("inf")
    with bench(DOT) as client:
        got = client.run(a, b, precision)
    assert got[1, 1] == (exact if cuts else more)
    assert got[0, 0] == float("inf")


ROWS = """
{helpers}
@triton.jit
def kernel(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + row * stride + i, mask=m, other={other})
    {body}

def run(x):
    out = torch.empty(x.shape, dtype=x.dtype, device="cuda")
    kernel[(x.shape[0],)](x, out, x.stride(0), x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out
"""


def rows(body, x, other="0.0", helpers=""):
    with bench(ROWS.format(body=body, other=other, helpers=helpers)) as client:
        return client.run(x)


STORE = "tl.store(out + row * n + i, {}, mask=m)"


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax(dtype):
    x = torch.randn(5, 100, generator=torch.Generator().manual_seed(4)).to(dtype)
    body = "v = v.to(tl.float32); e = tl.exp(v - tl.max(v, 0)); " + STORE.format("e / tl.sum(e, 0)")
    got = rows(body, x, other="-float('inf')")
    torch.testing.assert_close(got, torch.softmax(x.float(), -1).to(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("reduction", "expected"),
    [
        ("tl.sum(v, 0)", lambda x: x.float().sum(-1, keepdim=True)),
        ("tl.max(v, 0)", lambda x: x.amax(-1, keepdim=True)),
        ("v.min(axis=0)", lambda x: x.amin(-1, keepdim=True)),
        ("tl.argmax(v, 0)", lambda x: x.argmax(-1, keepdim=True)),
        ("tl.reduce(v, 0, product)", lambda x: x.float().prod(-1, keepdim=True)),
    ],
)
def test_reductions(dtype, reduction, expected):
    x = (torch.rand(3, 64, generator=torch.Generator().manual_seed(5)) + 0.5).to(dtype)
    helpers = "@triton.jit\ndef product(a, b):\n    return a * b\n"
    got = rows(STORE.format(reduction), x, helpers=helpers)
    wanted = expected(x).to(dtype).expand_as(x)
    tolerance = 1e-5 if dtype == torch.float32 else 3e-2
    torch.testing.assert_close(got, wanted, rtol=tolerance, atol=tolerance)


def test_reduction_of_pairs_with_custom_combine():
    helpers = """
@triton.jit
def welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    delta = mean_b - mean_a
    n = n_a + n_b
    return mean_a + delta * n_b / n, m2_a + m2_b + delta * delta * n_a * n_b / n, n
"""
    x = torch.randn(3, 128, generator=torch.Generator().manual_seed(6))
    body = "mean, m2, count = tl.reduce((v, tl.zeros_like(v), tl.full((BLOCK,), 1.0, tl.float32)), 0, welford); "
    got = rows(body + STORE.format("(v - mean) / tl.sqrt(m2 / count)"), x, helpers=helpers)
    expected = (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, unbiased=False)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("scan", "expected"),
    [
        ("tl.cumsum(v, 0)", lambda x: x.cumsum(-1)),
        ("tl.cumprod(v, 0)", lambda x: x.cumprod(-1)),
        ("tl.cumsum(v, 0, reverse=True)", lambda x: x.flip(-1).cumsum(-1).flip(-1)),
        ("tl.associative_scan(v, 0, larger)", lambda x: x.cummax(-1).values),
        ("v.associative_scan(0, larger)", lambda x: x.cummax(-1).values),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_scans(dtype, scan, expected):
    x = (torch.rand(3, 64, generator=torch.Generator().manual_seed(7)) + 0.5).to(dtype)
    helpers = "@triton.jit\ndef larger(a, b):\n    return tl.where(a > b, a, b)\n"
    tolerance = 1e-5 if dtype == torch.float32 else 2e-2
    got = rows(STORE.format(scan), x, helpers=helpers)
    torch.testing.assert_close(got, expected(x.float()).to(dtype), rtol=tolerance, atol=tolerance)


def test_linear_recurrence_scan():
    helpers = "@triton.jit\ndef step(a1, b1, a2, b2):\n    return a1 * a2, b1 * a2 + b2\n"
    x = torch.rand(2, 32, generator=torch.Generator().manual_seed(8))
    body = "_, h = tl.associative_scan((v, v), 0, step); " + STORE.format("h")
    expected, state = torch.empty_like(x), torch.zeros(2)
    for i in range(32):
        state = expected[:, i] = state * x[:, i] + x[:, i]
    torch.testing.assert_close(rows(body, x, helpers=helpers), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
def test_sort_and_flip(dtype):
    x = (torch.randn(3, 64, generator=torch.Generator().manual_seed(9)) * 100).to(dtype)
    got = rows(STORE.format("tl.flip(tl.sort(v), 0)"), x, other="0")
    assert torch.equal(got, x.sort(descending=True).values)


def test_histogram_and_gather():
    x = torch.randint(0, 16, (2, 128), dtype=torch.int32, generator=torch.Generator().manual_seed(10))
    got = rows("h = tl.histogram(v, 16); " + STORE.format("tl.gather(h, v, 0)"), x, other="0")
    expected = torch.stack([torch.bincount(r, minlength=16)[r] for r in x]).int()
    assert torch.equal(got, expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_atomics_with_colliding_lanes(dtype):
    source = """
    @triton.jit
    def kernel(x, total, largest, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        m = i < n
        v = tl.load(x + i, mask=m, other=0.0)
        tl.atomic_add(total + i % 4, v, mask=m)
        tl.atomic_max(largest + i * 0, (v.to(tl.float32) * 8).to(tl.int32), mask=m)

    def run(x):
        total = torch.zeros(4, device=x.device, dtype=x.dtype)
        largest = torch.full((1,), -1000, device=x.device, dtype=torch.int32)
        kernel[(4,)](x, total, largest, x.numel(), BLOCK=32)
        return total, largest
    """
    x = torch.randint(-8, 8, (100,), generator=torch.Generator().manual_seed(11)).to(dtype) / 8
    with bench(source) as client:
        total, largest = client.run(x)
    assert torch.equal(total.float(), x.float().reshape(25, 4).sum(0))
    assert largest.item() == int((x.float() * 8).max())


def test_compare_and_swap_lock():
    source = """
    @triton.jit
    def kernel(lock, out):
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
        tl.store(out, tl.load(out) + 1)
        tl.atomic_xchg(lock, 0)

    def run(out):
        kernel[(5,)](torch.zeros(1, dtype=torch.int32, device="cuda"), out)
        return out
    """
    with bench(source) as client:
        assert client.run(torch.zeros(1, dtype=torch.int32)).item() == 5


def test_block_pointers():
    source = """
    @triton.jit
    def kernel(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
        p = tl.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
        q = tl.make_block_ptr(out, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
        for _ in range(0, tl.cdiv(N, BN)):
            tl.store(q, tl.load(p, boundary_check=(0, 1)) + 1, boundary_check=(0, 1))
            p = tl.advance(p, (0, BN))
            q = tl.advance(q, (0, BN))

    def run(x):
        out = torch.empty_like(x)
        kernel[(triton.cdiv(x.shape[0], 16),)](x, out, *x.shape, BM=16, BN=32)
        return out
    """
    x = torch.randn(50, 70)
    with bench(source) as client:
        torch.testing.assert_close(client.run(x), x + 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_tensor_descriptors_made_on_device_and_host(dtype):
    source = """
    from triton.tools.tensor_descriptor import TensorDescriptor

    @triton.jit
    def on_device(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
        d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
        e = tl.make_tensor_descriptor(out, [M, N], [N, 1], [BM, BN])
        row = tl.program_id(0) * BM
        e.store([row, 0], d.load([row, 0]) * 2)

    @triton.jit
    def on_host(d, e, BM: tl.constexpr):
        row = tl.program_id(0) * BM
        e.store([row, 0], d.load([row, 0]) + 1)

    def run(x):
        triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
        doubled, out = torch.empty_like(x), torch.empty_like(x)
        on_device[(4,)](x, doubled, *x.shape, BM=16, BN=32)
        on_host[(4,)](TensorDescriptor.from_tensor(doubled, [16, 32]), TensorDescriptor.from_tensor(out, [16, 32]), BM=16)
        return out
    """
    x = torch.randn(60, 32).to(dtype)
    with bench(source) as client:
        torch.testing.assert_close(client.run(x), x * 2 + 1)


def test_control_flow_and_helpers():
    source = """
    @triton.jit
    def square(x):
        return x * x

    @triton.jit
    def kernel(x, out, n, scale, flag, BLOCK: tl.constexpr, ACTIVATION: tl.constexpr):
        i = tl.arange(0, BLOCK)
        v = tl.load(x + i)
        acc = tl.zeros((BLOCK,), tl.float32)
        k = 0
        while k < n and k < 100:
            acc += v
            k += 1
        for j in tl.range(0, n, num_stages=2):
            acc += square(v) * j.to(tl.float32)
        for j in range(tl.program_id(0), n, tl.num_programs(0)):
            acc += 0 * j.to(tl.int64)
        for j in tl.static_range(3):
            acc += j
        if n > 3 and not (n == 5):
            acc = acc * scale
        else:
            acc = -acc
        low = min(acc, 100.0) if flag else acc
        if ACTIVATION == "relu":
            low = tl.where(low > 0, low, 0.0)
        assert n > 1000, "off outside debug mode"
        tl.store(out + i, low)

    def run(x, n, flag):
        out = torch.empty_like(x)
        kernel[(1,)](x, out, n, 0.5, flag, BLOCK=64, ACTIVATION="relu")
        return out
    """
    x = torch.rand(64)

    def expected(n):
        acc = x * n + x * x * (n * (n - 1) / 2) + 3
        return (acc * 0.5 if n > 3 and n != 5 else -acc).clamp(0, 100)

    with bench(source) as client:
        for n in (1, 4, 5, 16):
            torch.testing.assert_close(client.run(x, n, n != 4), expected(n))


def test_heuristics_closures_and_constexpr_globals():
    source = """
    FACTOR = tl.constexpr(3)

    def make(operation):
        @triton.heuristics({"EVEN": lambda a: a["n"] % a["BLOCK"] == 0})
        @triton.jit
        def kernel(x, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            if EVEN:
                tl.store(out + i, operation(tl.load(x + i)) * FACTOR)
            else:
                m = i < n
                tl.store(out + i, operation(tl.load(x + i, mask=m)) * FACTOR, mask=m)
        return kernel

    @triton.jit
    def plus_one(v):
        return v + 1

    kernel = make(plus_one)

    def run(x):
        out = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
        return out
    """
    with bench(source) as client:
        for n in (128, 100):
            x = torch.randn(n)
            torch.testing.assert_close(client.run(x), (x + 1) * 3)


def test_random_numbers_are_uniform_and_repeat():
    source = """
    @triton.jit
    def kernel(out, seed, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.rand(seed, i))

    def run(seed):
        out = torch.empty(1024, device="cuda")
        kernel[(4,)](out, seed, BLOCK=256)
        return out
    """
    with bench(source) as client:
        first, again, other = client.run(42), client.run(42), client.run(43)
    assert torch.equal(first, again) and not torch.equal(first, other)
    assert 0.45 < first.mean() < 0.55 and first.min() >= 0 and first.max() < 1


def test_shapes():
    source = """
    @triton.jit
    def kernel(x, out, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        v = tl.reshape(tl.load(x + i), (8, BLOCK // 8))
        v = tl.trans(v)
        even, odd = tl.split(tl.reshape(v, (BLOCK // 2, 2)))
        joined = tl.join(odd, even)
        v = tl.reshape(joined, (BLOCK,)) + tl.sum(tl.permute(v, (1, 0)), axis=None)
        tl.store(out + i, tl.expand_dims(v, 0).reshape(BLOCK))

    def run(x):
        out = torch.empty_like(x)
        kernel[(1,)](x, out, BLOCK=64)
        return out
    """
    x = torch.randn(64)
    expected = x.reshape(8, 8).t().reshape(32, 2).flip(1).reshape(-1) + x.sum()
    with bench(source) as client:
        torch.testing.assert_close(client.run(x), expected)


def test_two_dimensional_strided_views_keep_dims():
    source = """
    @triton.jit
    def kernel(x, out, s0, s1, M: tl.constexpr, N: tl.constexpr):
        r, c = tl.arange(0, M), tl.arange(0, N)
        v = tl.load(x + r[:, None] * s0 + c[None, :] * s1)
        tl.store(out + r[:, None] * N + c[None, :], v / tl.sum(v, axis=1, keep_dims=True))

    def run(x):
        out = torch.empty(x.shape, device=x.device)
        kernel[(1,)](x, out, *x.stride(), M=16, N=32)
        return out
    """
    x = (torch.rand(32, 40) + 0.1).t()[4:20]
    with bench(source) as client:
        torch.testing.assert_close(client.run(x), x / x.sum(1, keepdim=True))


def test_program_order_and_three_dimensional_grid():
    source = """
    @triton.jit
    def kernel(out):
        x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
        at = (x * tl.num_programs(1) + y) * tl.num_programs(2) + z
        tl.store(out + at, x * 100 + y * 10 + z)

    def run():
        out = torch.empty((2, 3, 4), dtype=torch.int32, device="cuda")
        kernel[(2, 3, 4)](out)
        return out
    """
    with bench(source) as client:
        got = client.run()
    assert got.tolist() == [[[x * 100 + y * 10 + z for z in range(4)] for y in range(3)] for x in range(2)]


def test_descriptor_block_at_an_unaligned_column():
    source = """
    @triton.jit
    def kernel(x, out, M, N, B: tl.constexpr):
        d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [B, B])
        e = tl.make_tensor_descriptor(out, [B, B], [B, 1], [B, B])
        e.store([0, 0], d.load([1, 3]))

    def run(x):
        triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
        out = torch.empty((16, 16), device=x.device)
        kernel[(1,)](x, out, *x.shape, B=16)
        return out
    """
    x = torch.randn(20, 16)
    with bench(source) as client:
        assert torch.equal(client.run(x), torch.nn.functional.pad(x[1:17, 3:], (0, 3)))


@pytest.mark.parametrize(
    ("expression", "feature"),
    [
        (
            "tl.inline_asm_elementwise('ld.global.f32 $0, [$1];', '=f,l', [i], tl.float32, True, 1)",
            "the instruction 'ld.global.f32 $0, [$1]'",
        ),
        ("libdevice.add_rz(a, b)", "the function __nv_fadd_rz"),
    ],
)
def test_unsupported_feature_is_named(expression, feature):
    x, y = pair()
    with bench(MAP.format(expression=expression)) as client:
        reply = client.call(x, y)
    assert (reply.kind, reply.feature) == ("unsupported", feature)


@pytest.mark.parametrize("next_", ["pass", "raise ValueError('a fault of its own') from None"])
def test_unsupported_feature_decides_even_if_caught(next_):
    expression = "libdevice.add_rz(a, b)"
    launch = "    kernel[(triton.cdiv(n, 128),)](x, y, out, n, BLOCK=128)"
    source = MAP.format(expression=expression)
    assert launch in source
    caught = f"    try:\n    {launch}\n    except BaseException:\n        {next_}\n    out = x + y"
    x, y = pair()
    with bench(source.replace(launch, caught)) as client:
        reply = client.call(x, y)
    assert (reply.kind, reply.feature) == ("unsupported", "the function __nv_fadd_rz")
    assert [frame["function"] for frame in reply.frames] == ["run"]


def test_constants_may_be_computed_by_python():
    source = """
    @triton.constexpr_function
    def half(block):
        return block // 2
    """
    x, y = pair()
    with bench(textwrap.dedent(source) + MAP.format(expression="a + b * half(BLOCK)")) as client:
        torch.testing.assert_close(client.run(x, y), x + y * 64)


CONSTANTS = """
TWO = tl.constexpr(2.0)
FOUR = tl.constexpr(4)

@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, {body}, mask=i < n)

def run(x):
    out = torch.empty_like(x)
    kernel[(1,)](x, out, x.numel(), BLOCK=64)
    return out
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("TWO * v", lambda v: 2 * v),
        ("TWO - v + TWO / (v * v + TWO)", lambda v: 2 - v + 2 / (v * v + 2)),
        ("tl.where(TWO < v, v, TWO)", lambda v: v.clamp(min=2)),
        ("v * (TWO * FOUR) + TWO.value", lambda v: v * 8 + 2),
        ("tl.where(FOUR % (i + 1) == 0, v, FOUR)", lambda v: torch.where(4 % (torch.arange(50) + 1) == 0, v, 4.0)),
    ],
)
def test_module_constants_are_accepted_on_both_sides(body, expected):
    x = torch.linspace(-4, 4, 50)
    with bench(CONSTANTS.format(body=body)) as client:
        torch.testing.assert_close(client.run(x), expected(x))


def test_a_jit_function_may_ask_for_the_value_of_a_dtype():
    source = """
    @triton.jit
    def smallest(dtype):
        dtype_ = dtype.value
        if dtype_.is_floating():
            return float("-inf")
        if dtype_.is_int_signed():
            width: tl.constexpr = dtype_.int_bitwidth
            return -1 * 2 ** (width - 1)

    @triton.jit
    def kernel(x, out, n, B: tl.constexpr):
        i = tl.arange(0, B)
        low = smallest(x.type.element_ty)
        tl.store(out, tl.max(tl.load(x + i, mask=i < n, other=low), 0))

    def run(x):
        out = torch.empty((), dtype=x.dtype, device=x.device)
        kernel[(1,)](x, out, x.numel(), B=16)
        return out
    """
    with bench(source) as client:
        assert client.run(torch.tensor([-3.0, -2.0, -7.0])).item() == -2
        assert client.run(torch.tensor([-3, -2, -7], dtype=torch.int32)).item() == -2


def test_empty_tensors_differ_between_calls():
    source = """
    def run():
        return torch.empty(4, device="cuda"), torch.empty_like(torch.zeros(2, dtype=torch.float16, device="cuda"))
    """
    with bench(source) as client:
        found = [client.run() for _ in range(3)]
    assert found[0][0].isnan().all() and found[0][1].isnan().all()
    for single, half in found[1:]:
        assert torch.isfinite(single).all() and (single.abs() > 1e30).all() and (half.abs() > 6e4).all()
    assert (found[1][0] > 0).all() and (found[2][0] < 0).all()


ACCUMULATED = """
@triton.jit
def kernel(x, total, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_max(total, tl.max(tl.load(x + i, mask=i < n, other=float("-inf")), 0))

def run(x):
    total = torch.{made}(1, device="cuda")
    kernel[(4,)](x, total, x.numel(), BLOCK=64)
    return total
"""


def test_sum_in_memory_that_nobody_has_written_is_told():
    """The maximum of integers drops a NaN, whose bits are -1, so it is right in the first call."""
    x = torch.arange(200.0)
    told = ("undefined_value", "line 11 of kernel: updates what nobody has written to total, 1 lane")
    with bench(ACCUMULATED.format(made="empty")) as client:
        assert client.run(x).item() == 199 and client.found("wrong_values") is None
        assert client.run(x).item() > 1e30 and client.found("wrong_values") == told
        assert client.run(x).item() == 199 and client.found("wrong_values") == told
    with bench(ACCUMULATED.format(made="zeros")) as client:
        assert client.run(x).item() == 199 and client.found("wrong_values") is None


TAKEN = """
@triton.jit
def kernel({names}, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    source = x
    tl.store(out + i, tl.load(source + i), mask=i < n)

def run(x):
    out = torch.empty(64, device="cuda")
    kernel[(2,)](x, out, out.numel(), BLOCK=32)
    return out
"""


@pytest.mark.parametrize(("size", "far", "lanes"), [(60, 16, "4 lanes"), (1, 252, "63 lanes"), (0, 256, "64 lanes")])
def test_access_behind_an_argument_is_told_by_its_name(size, far, lanes):
    with bench(TAKEN.format(names="x, out")) as client:
        client.call(torch.randn(size))
        status, message = client.found()
    program = "(1, 0, 0)" if size == 60 else "(0, 0, 0)"
    assert status == "out_of_bounds"
    assert (
        message
        == f"line 12 of kernel in program {program}: reads up to {far} bytes behind the end of x ({size * 4} bytes), {lanes}"
    )


def test_bytes_between_the_elements_of_an_argument_are_none_of_its_own():
    source = """
    @triton.jit
    def kernel(x, out, stride, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i * stride))

    def run(x, stride):
        out = torch.empty(16, device="cuda")
        kernel[(1,)](x, out, stride, BLOCK=16)
        return out
    """
    whole = torch.randn(32)
    whole[1::2].view(torch.int32).fill_(-1)
    with bench(source) as client:
        assert torch.equal(client.run(whole[::2], 2), whole[::2]) and client.found("wrong_values") is None
        client.call(whole[::2], 1)
        assert client.found("wrong_values", "16 wrong elements") == (
            "wrong_values",
            "16 wrong elements; line 11 of kernel in program (0, 0, 0): reads what lies between the elements of x, 8 lanes",
        )
