"""The error model: honest arithmetic in any order passes, anything less precise does not."""

import math
import re

import pytest
import torch
import torch.nn.functional as F

from kbx.suite import DISTRIBUTIONS, Close, Exact, Inputs, call, errors
from kbx.suite.original import OriginalRules
from kbx.suite.values import transform

SEEDS = range(4)
DEVICES = pytest.mark.parametrize("device", ["cpu", *(["cuda"] if torch.cuda.is_available() else [])])
DTYPES = pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
FP32_DISTRIBUTIONS = [d for d in DISTRIBUTIONS if d != "small"]


def outcome(contract, got, function, *args):
    """Compares ``got`` with a reference function of tensors, truth and all."""
    truth = function(*transform(args, lambda t: t.double() if t.is_floating_point() else t))
    return contract.compare(call(*args), [got], function(*args), truth)


def sequential_matmul(a, b):
    total = torch.zeros(a.shape[0], b.shape[1], dtype=a.dtype)
    for k in range(a.shape[1]):
        total += a[:, k : k + 1] * b[k]
    return total


def blocked_matmul(a, b, block=32):
    total = torch.zeros(a.shape[0], b.shape[1], dtype=a.dtype)
    for k in range(0, a.shape[1], block):
        total += sequential_matmul(a[:, k : k + block], b[k : k + block])
    return total


def tf32(t):
    """Round to ten bits of mantissa, to nearest."""
    return ((t.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def norm_scale(x):
    return x.double().norm(dim=-1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_accepts_a_sequential_sum(distribution, seed):
    x = Inputs("float32", distribution, seed).floats(16, 1000)
    total = torch.zeros(16)
    for column in x.unbind(1):
        total = total + column
    assert outcome(Close(scale=norm_scale), total, lambda x: x.sum(1), x).right


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("matmul", [sequential_matmul, blocked_matmul])
def test_accepts_another_order_of_a_matrix_product(matmul, seed):
    make = Inputs(seed=seed)
    a, b = make.floats(33, 300), make.floats(300, 17)
    assert outcome(Close(), matmul(a, b), torch.matmul, a, b).right


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_accepts_tanh_made_of_exponentials(distribution, seed):
    x = Inputs("float32", distribution, seed).floats(1000)
    e = torch.exp(2 * x.clamp(-20, 20))
    assert outcome(Close(scale=1.0), (e - 1) / (e + 1), torch.tanh, x).right


@pytest.mark.parametrize("seed", SEEDS)
def test_rejects_reduced_precision_in_a_matrix_product(seed):
    make = Inputs(seed=seed)
    a, b = make.floats(33, 300), make.floats(300, 17)
    assert not outcome(Close(), tf32(a) @ tf32(b), torch.matmul, a, b).right
    assert not outcome(Close(), (a.half() @ b.half()).float(), torch.matmul, a, b).right
    assert not outcome(Close(), (a.bfloat16() @ b.bfloat16()).float(), torch.matmul, a, b).right


def test_allows_tf32_where_the_task_does():
    make = Inputs(seed=1)
    a, b = make.floats(33, 300), make.floats(300, 17)
    assert outcome(Close(tf32=True), tf32(a) @ tf32(b), torch.matmul, a, b).right
    assert not outcome(Close(tf32=True), (a.bfloat16() @ b.bfloat16()).float(), torch.matmul, a, b).right


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("distribution", FP32_DISTRIBUTIONS)
def test_rejects_half_precision_element_by_element(distribution, seed):
    x = Inputs("float32", distribution, seed).floats(1000)
    assert not outcome(Close(scale=1.0), F.gelu(x.half()).float(), F.gelu, x).right


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("seed", SEEDS)
def test_half_precision_tasks_allow_one_rounding_and_reject_float8(dtype, seed):
    x = Inputs(dtype, seed=seed).floats(1000)
    assert outcome(Close(), F.gelu(x.float()).to(dtype), F.gelu, x).right
    assert not outcome(Close(), F.gelu(x).to(torch.float8_e4m3fn).to(dtype), F.gelu, x).right


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spoil", ["zeros", "constant", "permuted", "one percent", "tail"])
def test_rejects_spoiled_results(spoil, seed):
    x = Inputs(seed=seed).floats(1000)
    right = F.gelu(x)
    wrong = {
        "zeros": torch.zeros_like(right), "constant": torch.full_like(right, right.mean().item()),
        "permuted": right.roll(1), "one percent": right.index_fill(0, torch.arange(0, 1000, 100), 0.123),
        "tail": torch.cat([right[:992], torch.zeros(8)]),
    }[spoil]  # fmt: skip
    assert outcome(Close(scale=1.0), right, F.gelu, x).right
    assert not outcome(Close(scale=1.0), wrong, F.gelu, x).right


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_finite_places_must_be_finite(value):
    x = Inputs().floats(10)
    wrong = torch.relu(x)
    wrong[3] = value
    found = outcome(Close(), wrong, torch.relu, x)
    assert [m["index"] for m in found.mismatches] == [[3]]
    assert all(isinstance(v, float) and v == v for v in found.metrics.values())


def test_infinities_and_nans_must_be_the_reference_s():
    x = torch.tensor([-1.0, 0.0, 1.0])
    assert outcome(Close(), torch.tensor([float("nan"), -float("inf"), 0.0]), torch.log, x).right
    assert not outcome(Close(), torch.tensor([float("nan"), float("inf"), 0.0]), torch.log, x).right
    assert not outcome(Close(), torch.tensor([-float("inf"), -float("inf"), 0.0]), torch.log, x).right


def test_finite_result_is_accepted_where_the_reference_overflowed_inside():
    x = torch.full((8,), 300.0, dtype=torch.float16)

    def rms(x):
        return (x * x).mean().sqrt()

    assert rms(x).isinf()
    assert outcome(Close(), torch.tensor(300.0, dtype=torch.float16), rms, x).right
    assert outcome(Close(), rms(x), rms, x).right
    assert not outcome(Close(), torch.tensor(200.0, dtype=torch.float16), rms, x).right


def test_float64_value_is_accepted_where_the_reference_is_not_finite():
    x = torch.tensor([float("inf"), -float("inf"), 1.0])

    def gelu(x):  # as oneDNN's in float32
        y = 0.5 * x * (1 + torch.erf(x * 0.5**0.5))
        return y if x.dtype == torch.float64 else torch.where(x.isinf(), float("nan"), y)

    nan, inf, one = gelu(x.double()).tolist()[1], float("inf"), float(gelu(x)[2])
    assert nan != nan
    for first, right in ((inf, True), (nan, True), (-inf, False), (0.0, False)):
        assert outcome(Close(), torch.tensor([first, nan, one]), gelu, x).right is right
    assert not outcome(Close(), torch.tensor([inf, -inf, one]), gelu, x).right


def test_flushed_subnormals_are_honest():
    x = torch.tensor([1e-30, 1.0])
    assert outcome(Close(), torch.tensor([0.0, 1.0]), lambda x: x * x, x).right


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0)])
def test_small_and_empty_shapes(shape):
    x = Inputs().floats(*shape)
    assert outcome(Close(), torch.relu(x), torch.relu, x).right


def test_complex_results_are_compared_by_component():
    x = Inputs("complex64").floats(5, 4)
    wide = torch.fft.fft(x.to(torch.complex128))
    right = torch.fft.fft(x)
    assert Close().compare(call(x), [right], right, wide).right
    wrong = right.clone()
    wrong[2, 1] = wrong[2, 1].conj()
    assert Close().compare(call(x), [wrong], right, wide).mismatches[0]["index"] == [2, 1]


def test_close_compares_integers_exactly_and_python_numbers_too():
    x = torch.tensor([3.0, 1.0, 2.0])

    def best(x):
        return x.max(), x.argmax(), x.sum().item(), len(x)

    right = best(x)
    assert outcome(Close(), right, best, x).right
    assert not outcome(Close(), (right[0], right[1] + 1, right[2], 3), best, x).right
    assert not outcome(Close(), (right[0], right[1], right[2] + 1e-4, 3), best, x).right
    assert not outcome(Close(), (right[0], right[1], right[2], 4), best, x).right


def test_exact_tells_signed_zeros_only_if_asked():
    zero, minus = torch.tensor([0.0, float("nan")]), torch.tensor([-0.0, float("nan")])
    assert Exact().compare(call(), [minus], zero, None).right
    assert not Exact(signed_zero=True).compare(call(), [minus], zero, None).right
    assert Exact(signed_zero=True).compare(call(), [minus], minus, None).right


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64, torch.bool, torch.float8_e4m3fn, torch.bfloat16])
def test_exact_in_every_kind_of_dtype(dtype):
    right = torch.tensor([0, 1, 1, 0, 1]).to(dtype)
    wrong = torch.tensor([0, 1, 0, 0, 1]).to(dtype)
    assert Exact().compare(call(), [right.clone()], right, None).right
    assert Exact().compare(call(), [wrong], right, None).mismatches[0]["index"] == [2]


def test_large_outputs_are_compared_in_chunks(monkeypatch):
    from kbx.suite import errors

    x = Inputs().floats(10, 10)
    wrong = torch.relu(x) + 1
    whole = outcome(Close(), wrong, torch.relu, x)
    monkeypatch.setattr(errors, "CHUNK", 7)
    parts = outcome(Close(), wrong, torch.relu, x)
    assert parts.mismatches == whole.mismatches
    assert parts.complaints == whole.complaints
    assert parts.metrics == pytest.approx(whole.metrics)


def test_overflow_of_the_reference_excuses_only_its_elements():
    x = torch.tensor([1e-3, 0.5, 2.0, 100.0])

    def sqrt_exp(x):
        return torch.exp(x).sqrt()

    wrong = sqrt_exp(x)
    assert wrong[3].isinf()
    assert outcome(Close(), wrong, sqrt_exp, x).right
    wrong[1] += 0.01
    assert [m["index"] for m in outcome(Close(), wrong, sqrt_exp, x).mismatches] == [[1]]


NEAR = [
    (torch.float32, False, 14, 15),
    (torch.float32, True, 1.7, 1.9),
    (torch.float64, False, 14, 15),
]
"""dtype, whether TF32 is allowed, and units of roundoff that are near and that are not."""


@pytest.mark.parametrize("size", [1e150, 1e200, 1e300])
def test_numbers_with_overflowing_squares_are_compared(size):
    truth = torch.linspace(0.1, 1, 100, dtype=torch.float64) * size
    assert errors.close("x", truth * (1 + 1e-15), truth, truth.clone()).wrong == 0
    found = errors.close("x", truth * (1 + 1e-9), truth, truth.clone())
    assert found.wrong > 50 and math.isfinite(found.error_ratio)


@pytest.mark.parametrize(("dtype", "tf32", "near", "far"), NEAR)
def test_near_results_are_right(dtype, tf32, near, far):
    reference = torch.linspace(1, 2, 1000, dtype=torch.float64).to(dtype)
    # The roundoff counts relative to an element and what it was made of, both about 1.5 here.
    unit = 2 * 1.5 * errors.roundoff(dtype, tf32)
    for units, expected in ((near, True), (far, False)):
        got = reference.clone()
        got[500] += units * unit * (0.98 if expected else 1.02)
        assert errors.near(got, reference, tf32) is expected
        if expected:
            assert not errors.close("x", got, reference, reference.double(), tf32=tf32).wrong


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_results_are_near_where_all_but_small_elements_are_equal(dtype):
    reference = torch.linspace(1, 2, 1000, dtype=torch.float64).to(dtype)
    reference[::100] = 1e-4
    u = errors.roundoff(dtype)
    for small, large, near in ((0.05 * u, 0, True), (0.2 * u, 0, False), (0, 2 * u, False)):
        got = reference.clone()
        got[300] += small
        got[301] += large
        assert errors.near(got, reference) is near
    assert not errors.near(got[:50], reference[:50].roll(1))


@pytest.mark.parametrize("own", ["exact", "rounded once", "rounded on its way"])
@DTYPES
def test_near_implies_close(dtype, own):
    """Whatever the truth is that the reference was near to."""
    said, narrow, u = [0, 0], dtype.itemsize == 2, errors.roundoff(dtype)
    for seed in range(200):
        generator = torch.Generator().manual_seed(seed)
        size, units, n = 10.0 ** (seed % 8 - 4), 0.16 * (seed + 1), (500, 128, 127)[seed % 3]
        reference = (torch.randn(n, generator=generator, dtype=torch.float64) * size).to(dtype)
        noise, errs = torch.randn(2, n, generator=generator, dtype=torch.float64)
        if narrow:
            moved = reference.double() + units / (40 if n == 500 else 400) * u * noise * size
        else:
            moved = reference.double() * (1 + units * u * noise)
        got, off = (
            moved.to(dtype),
            {"exact": 0, "rounded once": errs.clamp(-1, 1) / 2, "rounded on its way": 2 * errs}[own],
        )
        truth = reference.double() * (1 + u * off)
        near = errors.near(got, reference)
        said[near] += 1
        assert not near or not errors.close("x", got, reference, truth).wrong
    assert min(said) > 10


@DEVICES
@DTYPES
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_non_finite_values_are_near_only_equal_ones(value, dtype, device):
    ones = torch.ones(10, dtype=dtype, device=device)
    other = ones.clone()
    other[3] = value
    assert not errors.near(ones, other) and not errors.near(other, ones) and not errors.near(other, -other)
    assert errors.near(other, other.clone()) and not errors.near(other, other * (1 + 64 * errors.roundoff(dtype)))


@DEVICES
@DTYPES
def test_overflowing_difference_is_not_near(dtype, device):
    """60000 less -60000 is infinite in half precision."""
    large = torch.full((10,), 0.95 * torch.finfo(dtype).max, dtype=dtype, device=device)
    assert not errors.near(large, -large) and not errors.near(torch.zeros_like(large), large)
    one = torch.ones_like(large)
    one[3] = large[3]
    assert not errors.near(one, torch.where(one == 1, one, -one))


@DEVICES
@DTYPES
def test_near_agrees_with_close_on_subnormal_numbers(dtype, device):
    tiny = torch.finfo(dtype).smallest_normal * torch.linspace(0.1, 2, 40, dtype=torch.float64, device=device)
    reference = tiny.to(dtype)
    assert errors.near(reference, reference.clone())
    for got in (torch.zeros_like(reference), -reference, reference * 1.5):
        near = errors.near(got, reference)
        assert not near or not errors.close("x", got, reference, reference.double()).wrong


def test_near_is_undecided_on_an_overflowing_norm():
    huge = torch.full((10,), 3e38)
    assert not errors.near(torch.zeros(10), huge)


def test_empty_tensors_are_near():
    assert errors.near(torch.empty(0, 3), torch.empty(0, 3))


@pytest.mark.parametrize(
    ("times", "said"),
    [(1.02, "just above"), (5.6, "5.6x"), (37.2, "37x"), (2500, "2500x"), (3e7, "3e+07x")],
)
def test_message_has_the_error_of_the_first_element(times, said):
    ones = torch.ones(3, dtype=torch.float64)
    measured = errors.yardstick(ones, ones)
    error = float(measured.allowed(ones[:1].clone(), 0.0)) * times
    wrong = ones + torch.tensor([0, error, 1e9], dtype=torch.float64)
    found = errors.close("output", wrong, ones, ones)
    assert re.fullmatch(rf"2 wrong elements of 3, first output\[1\]: expected 1, got [\d.]+ \({re.escape(said)} the allowed error\)",
                        *found.complaints)  # fmt: skip


@pytest.mark.parametrize(("got", "expected"), [(math.nan, 1.0), (math.inf, 1.0), (1.0, math.nan), (1.0, -math.inf)])
def test_non_finite_error_is_left_out(got, expected):
    wrong, right = torch.tensor([2.0, got, 7.0]), torch.tensor([2.0, expected, 3.0])
    for found in (
        Close().compare(call(), [wrong], right, right.double()),
        OriginalRules().compare(call(), [wrong], right, None),
    ):
        assert found.complaints == [f"2 wrong elements of 3, first output[1]: expected {expected:g}, got {got:g}"]


def test_error_is_of_the_output_shown():
    ones = torch.ones(2)
    exact, close = torch.tensor([1, 2]), ones + 1e-4
    for got, said in (([ones, exact + 1, close], ""), ([close, exact + 1, ones], r" \(\d+x the allowed error\)")):
        want = [ones, exact, ones]
        (complaint,) = Close().compare(call(), [got], want, [ones.double(), exact, ones.double()]).complaints
        assert re.fullmatch(
            rf"4 wrong elements of 6, first output\[\d\]\[0\]: expected \d, got [\d.]+{said}", complaint
        )


NARROW = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
ELEMENTWISE = {
    "sigmoid": (torch.sigmoid, lambda x: 0.5 * (1 + torch.tanh(0.5 * x))),
    "tanh": (torch.tanh, lambda x: torch.sign(x) * (1 - torch.exp(-2 * x.abs())) / (1 + torch.exp(-2 * x.abs()))),
    "square": (lambda x: x * x, lambda x: x * x),
    "gelu": (F.gelu, lambda x: 0.5 * x * torch.erfc(-x * 0.5**0.5)),
}
"""Functions, and an honest way to compute each in float32."""


def cut_off(wide, dtype):
    """Float64 numbers as the next of ``dtype`` towards zero."""
    bits = 52 - (10 if dtype == torch.float16 else 7)
    return (wide.view(torch.int64) >> bits << bits).view(torch.float64).to(dtype)


@NARROW
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_narrow_result_is_computed_in_float32_and_rounded_once_to_nearest(name, seed, dtype):
    function, other = ELEMENTWISE[name]
    x = Inputs(dtype, seed=seed).floats(1000)
    u, right, wide = errors.roundoff(dtype), function(x), function(x.double())
    honest = outcome(Close(), other(x.float()).to(dtype), function, x)
    assert honest.right and honest.metrics["error_ratio"] <= 0.5
    noise = torch.randn(1000, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    wrong = {
        "1 + 3u": wide * (1 + 3 * u), "of the result": right.double() * (1 + 3 * u), "a hundredth": right.double() * 1.01,
        "noise": right.double() * (1 + 4 * u * noise), "cut off": cut_off(wide, dtype),
        "one number off": (right.view(torch.int16) + (right != 0)).view(dtype),
    }  # fmt: skip
    if name != "square":  # which is one operation in any precision
        wrong["in 16 bits"] = other(x)
    for what, got in wrong.items():
        found = outcome(Close(), got.to(dtype), function, x)
        assert not found.right and (found.metrics["error_ratio"] >= 2 or what == "in 16 bits"), what


def tensor_core(a, b, rounded):
    """Sixteen products at a time, with a running sum that ``rounded`` makes coarser."""
    total = torch.zeros(a.shape[0], b.shape[1], dtype=torch.float64)
    for k in range(0, a.shape[1], 16):
        total = rounded(total + a[:, k : k + 16].double() @ b[k : k + 16].double())
    return total


def of_float32(x):
    """Cut off to float32's 23 bits behind the point."""
    return (x.view(torch.int64) >> 29 << 29).view(torch.float64)


@NARROW
@pytest.mark.parametrize("k", [64, 1024, 8192])
def test_products_of_16_bits_are_added_up_in_float32(k, dtype):
    make = Inputs(dtype, seed=k)
    a, b = make.floats(24, k), make.floats(k, 20) * k**-0.5
    truth = a.double() @ b.double()
    for reference in (truth.to(dtype), (a.float() @ b.float()).to(dtype)):
        honest = errors.close("x", tensor_core(a, b, of_float32).to(dtype), reference, truth)
        assert honest.wrong == 0 and honest.error_ratio <= 0.5
        narrow = tensor_core(a, b, lambda x: x.to(dtype).double()).to(dtype)
        assert errors.close("x", narrow, reference, truth).error_ratio >= 2


@NARROW
def test_reference_that_rounds_on_its_way_lets_a_candidate_do_so(dtype):
    x, y = Inputs(dtype).floats(2, 1000)

    def chain(x, y):
        return torch.tanh(x * y + x) * y

    once = (torch.tanh(x.float() * y.float() + x.float()) * y.float()).to(dtype)
    otherwise = torch.tanh((y + 1) * x) * y
    for got in (once, otherwise):
        found = outcome(Close(), got, chain, x, y)
        assert found.right and found.metrics["error_ratio"] <= 0.7
    assert not outcome(Close(), (chain(x, y).double() * 1.04).to(dtype), chain, x, y).right


@NARROW
def test_candidate_may_round_at_one_place_more_than_the_reference(dtype):
    x, weight = Inputs(dtype, seed=3).floats(64, 512), Inputs(dtype, seed=4).floats(512)

    def reference(x, weight):
        wide = x.float() if x.dtype == dtype else x
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * weight

    oftener = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight
    found = outcome(Close(), oftener, reference, x, weight)
    assert found.right and found.metrics["error_ratio"] <= 0.75
    centred = (x.float() - x.float().mean(-1, keepdim=True)).to(dtype)
    found = outcome(Close(), reference(centred, weight), reference, x, weight)
    assert not found.right and found.metrics["error_ratio"] >= 4


@NARROW
def test_result_without_a_truth_may_be_rounded_to_either_side(dtype):
    wide = torch.linspace(1, 2, 1000, dtype=torch.float64)
    reference = wide.to(dtype)
    either = torch.where(wide > reference.double(), 1, -1).to(torch.int16)
    neighbour = (reference.view(torch.int16) + either).view(dtype)
    assert errors.close("x", neighbour, reference, reference).wrong == 0
    assert errors.close("x", neighbour, reference, wide).wrong > 0
    assert errors.close("x", reference * (1 + 16 * errors.roundoff(dtype)), reference, reference).wrong > 0


@NARROW
def test_few_elements_do_not_show_what_the_reference_rounds(dtype):
    wide = torch.linspace(1, 1.2, 128, dtype=torch.float64)
    off = (wide * (1 + 3 * errors.roundoff(dtype))).to(dtype)
    for count, right in ((127, True), (128, False)):
        reference, truth = wide[:count].to(dtype), wide[:count]
        assert (errors.close("x", off[:count], reference, truth).wrong == 0) is right


@NARROW
def test_result_that_the_reference_casts_may_be_the_other_of_two_near_numbers(dtype):
    x = Inputs("float32", seed=5).floats(16, 2500)

    def wide(x):
        return x * torch.sigmoid(x.float())

    def reference(x):
        return wide(x).to(dtype)

    noise = torch.randn(x.shape, generator=torch.Generator().manual_seed(1))
    honest = (wide(x) * (1 + 2.0**-20 * noise)).to(dtype)
    assert (honest != reference(x)).any()
    found = outcome(Close(), honest, reference, x)
    assert found.right and found.metrics["error_ratio"] <= 0.5
    right = reference(x)
    wrong = {
        "cut off": cut_off(wide(x.double()), dtype), "a hundredth": right * 1.01,
        "one number off": (right.view(torch.int16) + (right != 0)).view(dtype), "one": right.index_fill(1, torch.tensor(7), 0),
    }  # fmt: skip
    for what, got in wrong.items():
        found = outcome(Close(), got.to(dtype), reference, x)
        assert not found.right and found.metrics["error_ratio"] >= 2, what


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
@pytest.mark.parametrize("count", [32, 4000])
def test_float8_is_rounded_once_from_float32(dtype, count):
    largest = torch.finfo(dtype).max

    def reference(x):
        return (x / (x.abs().amax() / largest)).to(dtype)

    x = Inputs("float32", seed=count).floats(count)
    right = reference(x).float()
    for unknown in (False, True):
        truth = reference(x) if unknown else reference(x.double())
        known = truth if unknown else reference(x)

        def ratio(got, known=known, truth=truth):
            found = errors.close("x", got.to(dtype), known, truth)
            assert (found.wrong == 0) is (found.error_ratio <= 1)
            return found.error_ratio

        assert ratio(x * (largest / x.abs().amax())) <= 0.5
        wrong = {
            "zeros": right * 0, "negated": -right, "shuffled": right.roll(1), "constant": right.mean().expand(count),
            "one precision lower": (right / 16).to(torch.float8_e5m2).float() * 16 if dtype == torch.float8_e4m3fn else right * 1.125,
            "1.05": x / (x.abs().amax() / largest) * 1.05, "halved": right / 2,
        }  # fmt: skip
        assert {what: r for what, got in wrong.items() if (r := ratio(got)) < 2} == {}


def test_float8_that_overflows_is_infinite_or_the_largest_number():
    truth = torch.tensor([1e6, -1e6, 3.0], dtype=torch.float64).to(torch.float8_e5m2)
    assert truth[:2].float().isinf().all()

    def wrong(*values):
        return errors.close("x", torch.tensor(values).to(torch.float8_e5m2), truth, truth).wrong

    assert wrong(math.inf, -math.inf, 3) == wrong(57344, -57344, 3) == 0
    assert wrong(-57344, -57344, 3) == wrong(49152, -57344, 3) == wrong(57344, math.nan, 3) == 1
    assert wrong(57344, -57344, math.inf) == 1


@NARROW
def test_published_bound_limits_what_a_rounding_reference_allows(dtype):
    wide = torch.linspace(-1, 1, 2001, dtype=torch.float64)
    reference = (wide + 0.005 * torch.sin(1e4 * wide)).to(dtype)

    def close(got, most=1e-2, reference=reference):
        found = errors.close("x", got.to(dtype), reference, wide, measured=errors.yardstick(reference, wide, most=most))
        return found.wrong == 0, found.error_ratio

    assert close(wide + 0.0115, None)[0] and not close(wide + 0.0115)[0]
    assert close(wide) < (True, 0.5) and close(reference) < (True, 0.9)
    # What the reference itself is beyond the bound, an honest kernel may be.
    farther = (wide + 0.03 * torch.sin(1e4 * wide)).to(dtype)
    assert close(farther, reference=farther)[0] and close(wide, reference=farther)[0]
    assert close(wide + 0.03 * torch.cos(1e4 * wide), reference=farther)[0]
    assert not close(wide + 0.09, reference=farther)[0] and close(wide + 0.09, None, farther)[0]


def test_tf32_products_are_cut_off_and_pass_by_half():
    make = Inputs(seed=3)
    for k in (33, 300, 3000):
        a, b = make.floats(33, k), make.floats(k, 17)
        cut = [(t.view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (a, b)]
        found = outcome(Close(tf32=True), cut[0] @ cut[1], torch.matmul, a, b)
        assert found.right and found.metrics["error_ratio"] <= 0.5
        found = outcome(Close(tf32=True), (a.bfloat16() @ b.bfloat16()).float(), torch.matmul, a, b)
        assert not found.right
