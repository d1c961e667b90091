"""Each operation of Triton IR on special and random values, compared with torch in the same dtype."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from ttir_launch import launch_on_tensors

from kbx.ttir import formats
from kbx.ttir.executor import Kernel
from kbx.ttir.types import ELEMENTS

pytestmark = pytest.mark.sampled(3)

NAMES = {
    torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.float8_e4m3fn: "f8E4M3FN", torch.float8_e5m2: "f8E5M2",
    torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.bool: "i1",
}  # fmt: skip
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
INTS = (torch.int64, torch.int32, torch.int16, torch.int8)
EIGHTHS = (torch.float8_e4m3fn, torch.float8_e5m2)
SIZE = 1024

KERNEL = """
module {{
  tt.func public @k({parameters}, %o: !tt.ptr<{result}>) {{
    %i = tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32>
{loads}
    %r = {operation}
    %op = tt.splat %o : !tt.ptr<{result}> -> tensor<{size}x!tt.ptr<{result}>>
    %oq = tt.addptr %op, %i : tensor<{size}x!tt.ptr<{result}>>, tensor<{size}xi32>
    tt.store %oq, %r : tensor<{size}x!tt.ptr<{result}>>
    tt.return
  }}
}}
"""
LOAD = """    %{name}p = tt.splat %{name}_ptr : !tt.ptr<{type}> -> tensor<{size}x!tt.ptr<{type}>>
    %{name}q = tt.addptr %{name}p, %i : tensor<{size}x!tt.ptr<{type}>>, tensor<{size}xi32>
    %{name} = tt.load %{name}q : tensor<{size}x!tt.ptr<{type}>>"""


def apply(operation, result, *inputs):
    """The result, of dtype ``result``, of an operation on %a, %b, %c; ``{a}`` in its text is the tensor type of %a, ``{r}`` the result's."""
    names = "abc"[: len(inputs)]
    types = {name: NAMES[x.dtype] for name, x in zip(names, inputs, strict=True)}
    tensors = {name: f"tensor<{SIZE}x{type}>" for name, type in types.items()}
    text = KERNEL.format(
        parameters=", ".join(f"%{name}_ptr: !tt.ptr<{type}>" for name, type in types.items()),
        result=NAMES[result],
        size=SIZE,
        loads="\n".join(LOAD.format(name=name, type=type, size=SIZE) for name, type in types.items()),
        operation=operation.format(**tensors, r=f"tensor<{SIZE}x{NAMES[result]}>"),
    )
    out = torch.empty(SIZE, dtype=result)
    assert launch_on_tensors(Kernel(text), (1,), [*inputs, out]) == []
    return out


def special(dtype):
    """The values at which operations differ from one another."""
    if dtype == torch.bool:
        return [True, False]
    if dtype.is_floating_point:
        info = torch.finfo(dtype)
        values = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.5,
            2.5,
            -2.5,
            3.0,
            info.max,
            -info.max,
            info.tiny,
            info.eps,
            1 + info.eps,
            math.nan,
        ]
        return values if dtype == torch.float8_e4m3fn else [*values, math.inf, -math.inf, info.smallest_normal / 2]
    info = torch.iinfo(dtype)
    return [0, 1, -1, 2, -2, 3, 7, -7, info.max, info.min, info.max - 1, info.min + 1]


def values(dtype, count=1, seed=0):
    """``count`` tensors: all combinations of special values, then random ones."""
    combined = list(itertools.islice(itertools.product(special(dtype), repeat=count), SIZE // 2))
    generator = torch.Generator().manual_seed(seed)
    found = []
    for column in zip(*combined, strict=True):
        rest = SIZE - len(column)
        if dtype == torch.bool:
            random = torch.randint(0, 2, (rest,), generator=generator) > 0
        elif dtype.is_floating_point:
            random = torch.randn(rest, generator=generator, dtype=torch.float64) * 10 ** (
                2 * torch.randn(rest, generator=generator, dtype=torch.float64)
            )
        else:
            info = torch.iinfo(dtype)
            random = torch.randint(max(info.min, -(2**62)), min(info.max, 2**62), (rest,), generator=generator)
        head = torch.tensor(column, dtype=torch.float64 if dtype.is_floating_point else dtype)
        found.append(torch.cat([head.to(dtype), random.to(dtype)]))
    return found


def assert_same(got, expected):
    """Equal values, with the sign of zeros; NaN where NaN."""
    assert got.dtype == expected.dtype
    if got.dtype.is_floating_point:
        a, b = got.double(), expected.double()
        same = (a == b) & (torch.signbit(a) == torch.signbit(b)) | (a.isnan() & b.isnan())
    else:
        same = got == expected
    bad = torch.nonzero(~same).flatten()
    assert not len(bad), f"{len(bad)} differ, first at {bad[0]}: {got[bad[0]]} instead of {expected[bad[0]]}"


def assert_near(got, expected, ulps):
    """Within some units of the last place; non-finite values where they should be."""
    a, b = got.double(), expected.double()
    assert torch.equal(a.isnan(), b.isnan())
    assert torch.equal(a[a.isinf()], b[a.isinf()]) and torch.equal(a.isinf(), b.isinf())
    finite = b.isfinite()
    info = torch.finfo(got.dtype)
    unit = torch.maximum(b.abs() * info.eps, torch.tensor(info.tiny, dtype=torch.float64))
    assert ((a - b).abs() <= ulps * unit)[finite].all()


# ---------------------------------------------------------------- floats


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("addf", torch.add),
        ("subf", torch.sub),
        ("mulf", torch.mul),
        ("divf", torch.div),
    ],
)
def test_arithmetic_of_floats(name, expected, dtype):
    a, b = values(dtype, 2)
    wide = expected(a.float(), b.float()).to(dtype) if dtype in (torch.float16, torch.bfloat16) else expected(a, b)
    assert_same(apply(f"arith.{name} %a, %b : {{a}}", dtype, a, b), wide)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rest_of_a_quotient_that_is_rounded_first(dtype):
    """The compiler makes a division, a cut and an fma of it: of a large quotient the rest is wrong."""
    a, b = values(dtype, 2)
    got = apply("arith.remf %a, %b : {a}", dtype, a, b)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    for i in range(0, SIZE, 7):
        x, y, q = a[i].item(), b[i].item(), (a[i].to(wide) / b[i].to(wide)).trunc().item()
        if math.isfinite(x) and math.isfinite(y) and math.isfinite(q):
            exact = Fraction(x) - Fraction(q) * Fraction(y)
            if dtype == wide:
                assert_nearest(got[i].item(), exact, dtype)
            else:
                assert got[i] == torch.tensor(float(exact)).to(dtype) or got[i].item() == pytest.approx(float(exact))
    assert torch.equal(got[b.isinf() & ~a.isnan()], a[b.isinf() & ~a.isnan()])
    assert got[(b == 0) & (a == 0)].isnan().all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_precise_division_and_root(dtype):
    a, b = values(dtype, 2)
    if dtype in (torch.float32, torch.float64):
        assert_same(apply("tt.precise_divf %a, %b : {a}", dtype, a, b), a / b)
    with np.errstate(invalid="ignore"):
        root = torch.from_numpy(np.sqrt(flushed(a).double().numpy())).to(dtype)  # torch's own is not always the nearest
    assert_same(apply("math.sqrt %a : {a}", dtype, a), root)
    assert_same(apply("arith.negf %a : {a}", dtype, a), -a)
    assert_same(apply("math.absf %a : {a}", dtype, a), a.abs())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("name", "largest", "drops"), [("maxnumf", True, True), ("minnumf", False, True), ("maximumf", True, False), ("minimumf", False, False)])  # fmt: skip
def test_extremes_drop_or_keep_nan_and_order_zeros(name, largest, drops, dtype):
    a, b = values(dtype, 2)
    got = apply(f"arith.{name} %a, %b : {{a}}", dtype, a, b)
    plain = (torch.fmax if largest else torch.fmin) if drops else (torch.maximum if largest else torch.minimum)
    expected = plain(a, b)
    zeros = (a == 0) & (b == 0)
    negative = torch.signbit(a) & torch.signbit(b) if largest else torch.signbit(a) | torch.signbit(b)
    expected[zeros] = torch.where(negative, -0.0, 0.0).to(dtype)[zeros]
    assert_same(got, expected)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("oeq", lambda a, b: a == b), ("olt", lambda a, b: a < b), ("oge", lambda a, b: a >= b),
        ("one", lambda a, b: (a != b) & ~(a.isnan() | b.isnan())), ("une", lambda a, b: a != b),
        ("ueq", lambda a, b: (a == b) | a.isnan() | b.isnan()), ("ult", lambda a, b: ~(a >= b)), ("uge", lambda a, b: ~(a < b)),
        ("ugt", lambda a, b: ~(a <= b)), ("ule", lambda a, b: ~(a > b)), ("ogt", lambda a, b: a > b), ("ole", lambda a, b: a <= b),
        ("ord", lambda a, b: ~(a.isnan() | b.isnan())), ("uno", lambda a, b: a.isnan() | b.isnan()),
    ],
)  # fmt: skip
def test_comparisons_of_floats(name, expected, dtype):
    a, b = values(dtype, 2)
    assert_same(apply(f"arith.cmpf {name}, %a, %b : {{a}}", torch.bool, a, b), expected(a, b))


def flushed(x):
    """What an approximate function of float32 sees of a number."""
    wide = x.dtype in (torch.float32, torch.bfloat16)
    return torch.where(x.abs() < torch.finfo(torch.float32).tiny, x * 0, x) if wide else x


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64))
@pytest.mark.parametrize(
    ("name", "expected", "ulps"),
    [
        ("exp", torch.exp, 64), ("exp2", torch.exp2, 2), ("expm1", torch.expm1, 2), ("log", torch.log, 2), ("log2", torch.log2, 2),
        ("log1p", torch.log1p, 2), ("rsqrt", torch.rsqrt, 3), ("sin", torch.sin, 2), ("cos", torch.cos, 2), ("tanh", torch.tanh, 2),
        ("erf", torch.erf, 2), ("floor", torch.floor, 0), ("ceil", torch.ceil, 0), ("trunc", torch.trunc, 0),
        ("roundeven", torch.round, 0), ("round", lambda x: torch.where((x - x.trunc()).abs() >= 0.5, x.trunc() + x.sign(), x.trunc()), 0),
    ],
)  # fmt: skip
def test_functions(name, expected, ulps, dtype):
    (a,) = values(dtype)
    if name in ("sin", "cos"):
        a = a.clamp(-1e4, 1e4)
    flushes = name in ("exp2", "rsqrt", "sin", "erf", "floor", "ceil")
    wanted = expected((flushed(a) if flushes else a).double()).to(dtype)
    assert_near(apply(f"math.{name} %a : {{a}}", dtype, a), flushed(wanted) if flushes else wanted, ulps)


def test_exponential_is_a_power_of_two():
    (a,) = values(torch.float32)
    with np.errstate(over="ignore"):
        expected = torch.from_numpy(np.exp2((a * 1.4426950408889634).numpy()))
    assert_same(apply("math.exp %a : {a}", torch.float32, a), expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_fma_rounds_once(dtype):
    a, b, c = values(dtype, 3)
    if dtype == torch.float64:
        c[::2] = -(a * b)[::2] * (1 + 1e-15)
    got = apply("math.fma %a, %b, %c : {a}", dtype, a, b, c)
    finite = a.isfinite() & b.isfinite() & c.isfinite()
    for i in torch.nonzero(finite).flatten().tolist()[::7]:
        exact = Fraction(a[i].item()) * Fraction(b[i].item()) + Fraction(c[i].item())
        assert_nearest(got[i].item(), exact, dtype)
    special_values = ~finite
    assert_same(got[special_values], (a.double() * b.double() + c.double()).to(dtype)[special_values])


def assert_nearest(got, exact, dtype):
    """Whether no value of a format is nearer to an exact fraction."""
    here = torch.tensor(got, dtype=dtype)
    if not math.isfinite(got):
        assert abs(exact) >= Fraction(torch.finfo(dtype).max)
        return
    bits = here.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize])
    for step in (-1, 1):
        neighbour = (bits + step).view(dtype).item()
        if math.isfinite(neighbour):
            assert abs(Fraction(got) - exact) <= abs(Fraction(neighbour) - exact)


def test_clamp_keeps_nan_only_where_asked():
    a, low, high = torch.randn(SIZE), torch.full((SIZE,), -0.5), torch.full((SIZE,), 0.5)
    a[0] = math.nan
    assert_same(
        apply("tt.clampf %a, %b, %c, propagateNan = none : {a}", torch.float32, a, low, high)[1:],
        a.clamp(-0.5, 0.5)[1:],
    )
    assert apply("tt.clampf %a, %b, %c, propagateNan = none : {a}", torch.float32, a, low, high)[0] == -0.5
    low[1] = high[2] = math.nan
    assert apply("tt.clampf %a, %b, %c, propagateNan = all : {a}", torch.float32, a, low, high)[:3].isnan().all()
    assert not apply("tt.clampf %a, %b, %c, propagateNan = none : {a}", torch.float32, a, low, high)[:3].isnan().any()


# ---------------------------------------------------------------- integers


def exactly(function, dtype, *tensors):
    """A function of Python's integers, lane by lane, wrapped to a dtype."""
    bits = torch.iinfo(dtype).bits
    wrapped = [
        (function(*row) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
        for row in zip(*(t.tolist() for t in tensors), strict=True)
    ]
    return torch.tensor(wrapped, dtype=dtype)


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("addi", lambda a, b: a + b), ("subi", lambda a, b: a - b), ("muli", lambda a, b: a * b), ("andi", lambda a, b: a & b),
        ("ori", lambda a, b: a | b), ("xori", lambda a, b: a ^ b), ("maxsi", max), ("minsi", min), ("divsi", quotient),
        ("remsi", lambda a, b: a - b * quotient(a, b)), ("floordivsi", lambda a, b: a // b), ("ceildivsi", lambda a, b: -(-a // b)),
    ],
)  # fmt: skip
def test_arithmetic_of_integers(name, expected, dtype):
    a, b = values(dtype, 2)
    if name.startswith(("div", "rem", "floor", "ceil")):
        b = torch.where(b == 0, 1, b)
    assert_same(apply(f"arith.{name} %a, %b : {{a}}", dtype, a, b), exactly(expected, dtype, a, b))


@pytest.mark.parametrize("dtype", INTS)
def test_unsigned_arithmetic(dtype):
    a, b = values(dtype, 2)
    modulus = 1 << torch.iinfo(dtype).bits
    bits = torch.iinfo(dtype).bits
    expected = {
        "maxui": max, "minui": min,
        "shrui": lambda x, y: x >> y % 2**32 if y % 2**32 < bits else 0, "shli": lambda x, y: x << y % 2**32 if y % 2**32 < bits else 0,
        "divui": lambda x, y: x // y, "remui": lambda x, y: x % y, "ceildivui": lambda x, y: -(-x // y),
    }  # fmt: skip
    for name, function in expected.items():
        if "div" in name:
            b = torch.where(b == 0, 1, b)
        got = apply(f"arith.{name} %a, %b : {{a}}", dtype, a, b)
        assert_same(got, exactly(lambda x, y, f=function: f(x % modulus, y % modulus), dtype, a, b))


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("name", ["divsi", "remsi", "divui", "remui"])
def test_division_by_zero_gives_all_ones(name, dtype):
    (a,) = values(dtype)
    ones = torch.full_like(a, -1)
    if dtype == torch.int64:
        ones[(a >= 0) & (a < 2**32)] = 2**32 - 1  # as numbers of 32 bits are divided
    assert_same(apply(f"arith.{name} %a, %b : {{a}}", dtype, a, torch.zeros_like(a)), ones)


@pytest.mark.parametrize("dtype", INTS)
def test_shifts_by_the_width_and_more(dtype):
    (a,) = values(dtype)
    bits = torch.iinfo(dtype).bits
    by = (torch.arange(SIZE) % (bits + 3)).to(dtype)
    assert_same(
        apply("arith.shrsi %a, %b : {a}", dtype, a, by), exactly(lambda x, y: x >> min(y, bits - 1), dtype, a, by)
    )
    assert_same(
        apply("arith.shli %a, %b : {a}", dtype, a, by), exactly(lambda x, y: x << y if y < bits else 0, dtype, a, by)
    )


@pytest.mark.parametrize("dtype", INTS)
def test_high_halves_of_products(dtype):
    a, b = values(dtype, 2)
    bits = torch.iinfo(dtype).bits
    modulus = 1 << bits
    got = apply("tt.mulhiui %a, %b : {a}", dtype, a, b)
    assert_same(got, exactly(lambda x, y: (x % modulus) * (y % modulus) >> bits, dtype, a, b))


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("name", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"])
def test_comparisons_of_integers(name, dtype):
    a, b = values(dtype, 2)
    modulus = 1 << torch.iinfo(dtype).bits if name[0] == "u" else 0
    operator = {"eq": "__eq__", "ne": "__ne__"}.get(name) or f"__{name[1:]}__"
    expected = [
        getattr(x % modulus if modulus else x, operator)(y % modulus if modulus else y)
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert apply(f"arith.cmpi {name}, %a, %b : {{a}}", torch.bool, a, b).tolist() == expected


def test_booleans_are_one_bit():
    a, b = values(torch.bool, 2)
    expected = {
        "addi": a ^ b,
        "subi": a ^ b,
        "muli": a & b,
        "andi": a & b,
        "ori": a | b,
        "xori": a ^ b,
        "maxsi": a & b,
        "maxui": a | b,
        "minsi": a | b,
    }
    for name, wanted in expected.items():
        assert_same(apply(f"arith.{name} %a, %b : {{a}}", torch.bool, a, b), wanted)
    assert_same(apply("arith.cmpi slt, %a, %b : {a}", torch.bool, a, b), a & ~b)
    assert_same(apply("arith.cmpi ult, %a, %b : {a}", torch.bool, a, b), ~a & b)


# ---------------------------------------------------------------- conversions


@pytest.mark.parametrize("source", (*FLOATS, *EIGHTHS))
@pytest.mark.parametrize("target", (*FLOATS, *EIGHTHS))
def test_conversions_of_floats_round_to_nearest_even(source, target):
    if source == target:
        return
    (a,) = values(source)
    got = apply("tt.fp_to_fp %a : {a} -> {r}", target, a)
    exact, largest = a.double(), torch.finfo(target).max
    if target in EIGHTHS:  # they saturate
        exact = exact.clamp(-largest, largest)
    expected = nearest_even(exact, target)
    assert_same(got, expected)


def nearest_even(exact, dtype):
    """float64 values rounded once: torch goes by way of float32, so that here numpy's search among all values of a format does."""
    if dtype in (torch.float32, torch.float64):
        return exact.to(dtype)
    bits = 8 * dtype.itemsize
    all_bits = torch.arange(1 << bits - 1, dtype=torch.int32).to(torch.int16 if bits == 16 else torch.uint8)
    table = all_bits.view(dtype).double()
    finite = table[table.isfinite()].numpy()
    size = exact.abs().numpy()
    above = np.searchsorted(finite, np.nan_to_num(size, nan=0.0)).clip(max=len(finite) - 1)
    below = np.maximum(above - 1, 0)
    up, down = np.abs(finite[above] - size), np.abs(size - finite[below])
    index = np.where((up < down) | ((up == down) & (above % 2 == 0)), above, below)
    rounded = torch.from_numpy(finite[index])
    limit = finite[-1] + (finite[-1] - finite[-2]) / 2
    rounded[exact.abs() >= limit] = math.inf
    rounded = torch.copysign(rounded, exact)
    rounded[exact.isnan()] = math.nan
    return rounded.to(dtype)


@pytest.mark.parametrize("name", ["f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ"])
def test_formats_without_negative_zero(name):
    element, bits = ELEMENTS[name], np.arange(256, dtype=np.uint8).view(np.int8)
    numbers = formats.decoded(bits, element)
    assert np.isnan(numbers[0x80]) and np.isfinite(np.delete(numbers, 0x80)).all()
    assert np.array_equal(formats.encoded(numbers, element), bits)
    finite = np.sort(np.delete(numbers, 0x80).astype(np.float64))
    between = (finite[1:] + finite[:-1]) / 2
    got = formats.rounded(between, element).astype(np.float64)
    even = np.where(formats.encoded(finite[1:].astype(np.float32), element) % 2 == 0, finite[1:], finite[:-1])
    assert np.array_equal(got, even)
    assert formats.rounded(np.array([np.inf, -1e9, -0.0]), element).tolist() == [finite[-1], finite[0], 0.0]


@pytest.mark.parametrize("target", (torch.float16, torch.bfloat16, *EIGHTHS))
def test_rounding_towards_zero(target):
    (a,) = values(torch.float32)
    got = apply("tt.fp_to_fp %a, rounding = rtz : {a} -> {r}", target, a).double()
    finite = a.isfinite() & (a.abs() <= torch.finfo(target).max)
    assert (got.abs() <= a.double().abs())[finite].all()
    bits = torch.where(finite, a, 0).to(target)
    assert ((got - a.double()).abs()[finite] <= (bits.double() - a.double()).abs()[finite] * 2 + torch.finfo(target).eps * a.double().abs()[finite] + torch.finfo(target).tiny).all()  # fmt: skip


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", INTS)
def test_floats_to_integers_saturate_and_wrap(source, target):
    (a,) = values(source)
    got = apply("arith.fptosi %a : {a} to {r}", target, a)
    wide = max(16, torch.iinfo(target).bits)

    def convert(x):
        if math.isnan(x):
            return -(1 << wide - 1) if 64 in (wide, 8 * source.itemsize) else 0
        return max(
            -(1 << wide - 1),
            min((1 << wide - 1) - 1, math.trunc(x) if math.isfinite(x) else (1 << 200) * (1 if x > 0 else -1)),
        )

    assert_same(got, exactly(convert, target, a.double()))


@pytest.mark.parametrize("source", INTS)
@pytest.mark.parametrize("target", FLOATS)
def test_integers_to_floats(source, target):
    (a,) = values(source)
    got = apply("arith.sitofp %a : {a} to {r}", target, a)
    by_float = a.float() if target in (torch.float32, torch.bfloat16) else a.double()
    assert_same(got, nearest_even(by_float.double(), target))
    unsigned = a.to(torch.float64) + torch.where(a < 0, 2.0 ** torch.iinfo(source).bits, 0.0).double()
    if source != torch.int64:
        wide = unsigned.float().double() if target in (torch.float32, torch.bfloat16) else unsigned
        assert_same(apply("arith.uitofp %a : {a} to {r}", target, a), nearest_even(wide, target))


@pytest.mark.parametrize("source", (*INTS, torch.bool))
@pytest.mark.parametrize("target", INTS)
def test_conversions_of_integers(source, target):
    (a,) = values(source)
    bits = 1 if source == torch.bool else torch.iinfo(source).bits
    if torch.iinfo(target).bits > bits:
        signed = apply("arith.extsi %a : {a} to {r}", target, a)
        assert_same(signed, -a.to(target) if source == torch.bool else a.to(target))
        got = apply("arith.extui %a : {a} to {r}", target, a)
        assert_same(got, exactly(lambda x: int(x) % (1 << bits), target, a))
    elif torch.iinfo(target).bits < bits:
        assert_same(apply("arith.trunci %a : {a} to {r}", target, a), exactly(lambda x: x, target, a))
        assert_same(apply("arith.trunci %a : {a} to {r}", torch.bool, a), a % 2 != 0)


def test_bits_as_another_type():
    (a,) = values(torch.float32)
    assert torch.equal(apply("arith.bitcast %a : {a} to {r}", torch.int32, a), a.view(torch.int32))
    assert torch.equal(apply("tt.bitcast %a : {a} -> {r}", torch.int32, a), a.view(torch.int32))
    (b,) = values(torch.int16)
    assert_same(apply("arith.bitcast %a : {a} to {r}", torch.bfloat16, b), b.view(torch.bfloat16))


# ---------------------------------------------------------------- libdevice


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("__nv_tanhf", torch.tanh), ("__nv_lgammaf", torch.lgamma), ("__nv_erfinvf", torch.erfinv), ("__nv_rsqrtf", torch.rsqrt),
        ("__nv_rintf", torch.round), ("__nv_fabsf", torch.abs), ("__nv_log1pf", torch.log1p),
    ],
)  # fmt: skip
def test_functions_of_libdevice(symbol, expected):
    (a,) = values(torch.float32)
    operation = f'tt.extern_elementwise %a {{{{libname = "", libpath = "", pure = true, symbol = "{symbol}"}}}} : ({{a}}) -> {{r}}'
    wanted = a if symbol == "__nv_rintf" else flushed(a)
    got = apply(operation, torch.float32, a)
    assert_near(got, flushed(expected(wanted.double()).float()), 2)


@pytest.mark.parametrize(
    ("symbol", "given", "expected"),
    [
        ("fdimf", (math.inf, -math.inf), math.inf), ("fdimf", (1.0, math.nan), math.nan), ("erfcinvf", (1e-30,), 8.148617), ("logbf", (0.0,), -math.inf),
        ("remainderf", (1.5, 1.0), -0.5), ("remainderf", (0.5, 1.0), 0.5), ("remainderf", (3.0, math.inf), 3.0), ("remainderf", (1e30, 7.0), 1.0),
        ("sinpif", (3.0,), 0.0), ("cospif", (1.5,), 0.0), ("normcdff", (-10.0,), 7.619853e-24), ("cyl_bessel_i0f", (math.inf,), math.inf),
        ("j0f", (math.inf,), 0.0), ("y1f", (math.inf,), 0.0), ("tgammaf", (-2.0,), math.nan), ("tgammaf", (-0.0,), -math.inf),
        ("norm3df", (0.0, math.nan, math.inf), math.inf), ("fast_powf", (-2.0, 2.0), math.nan), ("expf", (-88.6772,), 3.077e-39),
        ("exp2f", (-127.0,), 0.0), ("rsqrtf", (1e-39,), math.inf), ("floorf", (-1e-39,), 0.0), ("roundf", (-0.2,), 0.0),
    ],
)  # fmt: skip
def test_functions_of_libdevice_at_their_edges(symbol, given, expected):
    inputs = [torch.full((SIZE,), x) for x in given]
    names, types = ", ".join(f"%{n}" for n in "abc"[: len(given)]), ", ".join(f"{{{n}}}" for n in "abc"[: len(given)])
    operation = f'tt.extern_elementwise {names} {{{{libname = "", libpath = "", pure = true, symbol = "__nv_{symbol}"}}}} : ({types}) -> {{r}}'
    got = apply(operation, torch.float32, *inputs)[0].item()
    assert got == pytest.approx(expected, rel=1e-3, abs=0, nan_ok=True)


def test_conversions_of_libdevice_saturate():
    a = torch.tensor([math.nan, 3e38, -3e38, 2.5, -0.5]).repeat(SIZE // 5 + 1)[:SIZE]
    most, least = 2**63 - 1, -(2**63)
    for symbol, dtype, wanted in (
        ("float2int_rz", torch.int32, [0, 2**31 - 1, -(2**31), 2, 0]), ("float2ll_rn", torch.int64, [least, most, least, 2, 0]),
        ("llroundf", torch.int64, [least, most, least, 3, -1]), ("ilogbf", torch.int32, [-(2**31), 127, 127, 1, -1]),
    ):  # fmt: skip
        operation = f'tt.extern_elementwise %a {{{{libname = "", libpath = "", pure = true, symbol = "__nv_{symbol}"}}}} : ({{a}}) -> {{r}}'
        assert apply(operation, dtype, a)[:5].tolist() == wanted


def test_infinity_of_eight_bits_stays_in_memory_and_towards_zero():
    bits = torch.arange(SIZE, dtype=torch.int32).to(torch.uint8)
    a = bits.view(torch.float8_e5m2)
    zeros = torch.zeros(SIZE, dtype=torch.uint8).view(torch.float8_e5m2)
    chosen = apply(
        "arith.select %c, %a, %b : {c}, {r}", torch.float8_e5m2, a, zeros, torch.ones(SIZE, dtype=torch.bool)
    )
    numbers = ~a.float().isnan()
    assert torch.equal(chosen.view(torch.uint8)[numbers], bits[numbers])
    b = torch.full((SIZE,), math.inf)
    assert (apply("tt.fp_to_fp %a, rounding = rtz : {a} -> {r}", torch.float8_e5m2, b).float() == math.inf).all()
    assert (apply("tt.fp_to_fp %a, rounding = rtne : {a} -> {r}", torch.float8_e5m2, b).float() == 57344).all()


def test_unsigned_functions_of_libdevice():
    a, b = values(torch.int32, 2)
    operation = 'tt.extern_elementwise %a, %b {{libname = "", libpath = "", pure = true, symbol = "__nv_umulhi"}} : ({a}, {b}) -> {r}'
    assert_same(
        apply(operation, torch.int32, a, b), exactly(lambda x, y: (x % 2**32) * (y % 2**32) >> 32, torch.int32, a, b)
    )


def test_select_takes_lanes():
    a, b = values(torch.float32, 2)
    c = torch.randint(0, 2, (SIZE,)) > 0
    assert_same(apply("arith.select %c, %a, %b : {c}, {r}", torch.float32, a, b, c), torch.where(c, a, b))
