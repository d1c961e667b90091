"""The error model computed fast says what its formula says: every figure against its plain form, one element after another."""

import math
import random

import pytest
import torch

from kbx.suite import errors

INF, NAN = float("inf"), float("nan")
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64]
SHAPES = [(), (1,), (0,), (3, 0), (7,), (5, 4), (2, 3, 11), (127,), (128,)]
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1e-300, 6e4, 65519.99, -7e4, 1e30]
NARROW = {torch.float16: -24, torch.bfloat16: -133}
"""Dtypes whose last rounding is taken off, with the exponent of their smallest number."""


def components(tensor):
    """Python numbers of a tensor, the parts of complex ones one after the other."""
    numbers = tensor.reshape(-1).tolist()
    return [part for z in numbers for part in (z.real, z.imag)] if tensor.is_complex() else numbers


def rms(values):
    finite = [v for v in values if math.isfinite(v)]
    squares = sum(v * v for v in finite)
    if math.isinf(squares):
        return math.hypot(*finite) / math.sqrt(len(finite))
    return math.sqrt(squares / len(finite)) if finite else 0.0


def divided(a, b):
    if b:
        return a / b
    return NAN if a == 0 or math.isnan(a) else math.copysign(INF, a)


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def plain(got, reference, truth, scale, growth, tf32):
    """``close`` by its module's text: ``(wrong, indices, max_abs, max_rel, error_ratio)``."""
    dtype, c, r = reference.dtype, components(got), components(reference)
    exact = components(truth)
    t = [t if math.isfinite(t) else r for t, r in zip(exact, r, strict=True)]
    given = torch.as_tensor(0.0 if scale is None else scale, dtype=torch.float64).abs().expand(reference.shape)
    given = [s for s in given.reshape(-1).tolist() for _ in range(2 if dtype.is_complex else 1)]
    size = rms([t if math.isfinite(r) else r for t, r in zip(t, r, strict=True)])
    weights = [abs(t) + max(s, size) for t, s in zip(t, given, strict=True)]
    n, eps, narrow = len(t) if not dtype.is_complex else len(t) // 2, torch.finfo(dtype).eps, dtype in NARROW

    def beyond(x, t):
        """The error of ``x`` beyond what rounding the truth to nearest may do."""
        if not narrow or not math.isfinite(x - t):
            return abs(x - t)
        exponent = max(math.frexp(t)[1] - 1 + round(math.log2(eps)) if t else NARROW[dtype], NARROW[dtype])
        return max(0.0, abs(x - t) - 2.0 ** (exponent - (truth is not reference)))

    q = [divided(beyond(r, t), w) for r, t, w in zip(r, t, weights, strict=True)]
    largest = max((v for v in q if math.isfinite(v)), default=0.0)
    if narrow:
        own = max(8 * rms(q), 2 * largest)
        budget = max(own, eps / 2 / 8 if n >= 128 and truth is not reference and own < eps / 4 else eps)
    elif tf32:
        budget = growth * max(8 * rms(q), 2 * largest, 2.0**-8 if dtype == torch.float32 else 16 * eps)
    else:
        budget = growth * max(32 * rms(q), 4 * largest, 16 * eps)
    floor = max(torch.finfo(torch.float32).tiny, torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps)
    allowed = [budget * w + floor for w in weights]
    wrong = []
    for i, (c_, r_, x_, t_, a) in enumerate(zip(c, r, exact, t, allowed, strict=True)):
        near = math.isfinite(c_) and math.isfinite(t_) and beyond(c_, t_) <= a
        overflowed = math.isinf(c_) and c_ * t_ > 0 and abs(t_) + a >= torch.finfo(dtype).max
        if not (near or overflowed or ((same(c_, r_) or same(c_, x_)) and not math.isfinite(r_))):
            wrong.append(i)
    figured = [
        (abs(c - t), beyond(c, t), abs(t), a) for c, t, a in zip(c, t, allowed, strict=True) if math.isfinite(c - t)
    ]
    ratios = [divided(e, a) for _, e, _, a in figured]
    return (
        len(wrong),
        [i // 2 if dtype.is_complex else i for i in wrong[:5]],
        max((e for e, _, _, _ in figured), default=0.0),
        max((e / s for e, _, s, _ in figured if s > 0), default=0.0),
        max(ratios) if ratios else None,
    )


def spoiled(chance, tensor, count):
    """The tensor with ``count`` special values at random places."""
    flat = tensor.clone().reshape(-1)
    for _ in range(count if flat.numel() else 0):
        flat[chance.randrange(flat.numel())] = chance.choice(SPECIAL)
    return flat.reshape(tensor.shape)


def case(chance):
    """Arguments of ``close`` without the path, drawn at random."""
    dtype, shape = chance.choice(DTYPES), chance.choice(SHAPES)
    wide = torch.complex128 if dtype.is_complex else torch.float64
    make = torch.Generator().manual_seed(chance.getrandbits(32))
    truth = torch.randn(shape, generator=make, dtype=wide) * chance.choice([1, 1, 1e-3, 300])
    truth = truth * (torch.rand(shape, generator=make) > 0.2) if chance.random() < 0.3 else truth
    u = torch.finfo(dtype).eps
    reference = (truth * (1 + chance.choice([0, 0, 3 * u]) * torch.randn(shape, generator=make))).to(dtype)
    off = torch.randn(shape, generator=make) * (torch.rand(shape, generator=make) < chance.choice([0, 0.1, 1]))
    got = (truth * (1 + chance.choice([u, 40 * u, 0.1]) * off)).to(dtype)
    if chance.random() < 0.5:
        counts = [chance.choice([0, 0, 1, 3]) for _ in range(3)]
        got, reference, truth = map(spoiled, [chance] * 3, (got, reference, truth), counts)
        places = torch.rand(shape, generator=make) < 0.5
        got = torch.where(reference.isfinite() | places, got, reference)
    truth = reference if chance.random() < 0.1 else truth
    scales = [None, None, 2.0, -3, 0.0, torch.tensor(0.7), INF]
    scales += [
        torch.rand(shape, generator=make) * 4 - 2,
        torch.rand(shape[-1:], generator=make, dtype=torch.float64) * 9,
    ]
    return got, reference, truth, chance.choice(scales), chance.choice([1.0, 1.0, 4.0]), chance.random() < 0.2


def close_to(value, other):
    """Whether two figures agree but for the order of rounding."""
    return value == other if value is None or other is None else value == pytest.approx(other, rel=1e-9, abs=0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("chunk", [3, 7, 1 << 24])
@pytest.mark.parametrize("seed", range(10))
def test_close_agrees_with_the_formula(monkeypatch, seed, chunk):
    monkeypatch.setattr(errors, "CHUNK", chunk)
    chance = random.Random(seed)
    for _ in range(100):
        got, reference, truth, *options = case(chance)
        before = [t.clone() for t in (got, reference, truth)]
        found = errors.close("x", got, reference, truth, *options)
        wrong, places, *figures = plain(got, reference, truth, *options)
        assert (found.wrong, len(found.mismatches)) == (wrong, len(places))
        for place, mismatch in zip(places, found.mismatches, strict=True):
            assert mismatch["index"] == [int(i) for i in torch.unravel_index(torch.tensor(place), reference.shape)]
        said = found.max_abs, found.max_rel, found.error_ratio
        assert all(map(close_to, said, figures)), (said, figures)
        for tensor, copy in zip((got, reference, truth), before, strict=True):
            assert all(map(same, components(tensor), components(copy)))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_around_the_largest_number_either_side_is_right(dtype, sign):
    largest, u = torch.finfo(dtype).max, torch.finfo(dtype).eps / 2
    make = torch.Generator().manual_seed(1)
    # An element is as far from its truth as float32 arithmetic may put it before a narrow result is rounded.
    play = 0.1 if dtype.itemsize == 2 else 2
    truth = sign * largest * (1 + play * u * torch.randn(1000, generator=make, dtype=torch.float64).clamp(-2, 2))
    truth = truth * (
        1 + u / 2 if dtype.itemsize == 2 else 1
    )  # the middle between the largest number and where the next one would be
    reference = truth.to(dtype)
    others = [(truth * (1 + k * play / 2 * u)).to(dtype) for k in (-2, -1, 1, 2)]
    assert all(t.isinf().any() and t.isfinite().any() for t in (reference, *others))
    for got in (reference, *others, torch.full_like(reference, sign * INF), torch.full_like(reference, sign * largest)):
        assert errors.close("x", got, reference, truth).wrong == 0
    for got in (-reference, torch.full_like(reference, NAN), reference * 0, reference.nan_to_num(0, 0, 0)):
        assert errors.close("x", got, reference, truth).wrong > 0
    below, far = (torch.full((9,), sign * scale * largest, dtype=torch.float64) for scale in (0.5, 4))
    assert errors.close("x", torch.full((9,), sign * INF, dtype=dtype), below.to(dtype), below).wrong == 9
    assert errors.close("x", torch.full((9,), sign * largest, dtype=dtype), far.to(dtype), far).wrong == 9


@pytest.mark.parametrize("seed", range(5))
def test_yardstick_is_reused_for_several_results(seed):
    chance = random.Random(seed)
    for _ in range(100):
        got, reference, truth, *options = case(chance)
        measured = errors.yardstick(reference, truth, *options)
        for other in (got, reference, torch.zeros_like(got), torch.full_like(got, NAN)):
            alone = errors.close("x", other, reference, truth, *options)
            assert errors.close("x", other, reference, truth, *options, measured=measured) == alone


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_exact_counts_every_other_value(monkeypatch, seed, signed):
    chance = random.Random(seed)
    for _ in range(100):
        monkeypatch.setattr(errors, "CHUNK", chance.choice([3, 1 << 24]))
        _, reference, *_ = case(chance)
        got = spoiled(chance, reference, chance.choice([0, 0, 1, 4]))
        c, e = components(got), components(reference)

        def right(a, b):
            return same(a, b) and not (signed and math.copysign(1, a) != math.copysign(1, b) and a == a)

        wrong = [i for i, pair in enumerate(zip(c, e, strict=True)) if not right(*pair)]
        found = errors.exact("x", got, reference, signed)
        assert found.wrong == len(wrong) and len(found.mismatches) == min(5, len(wrong))
        sizes = [abs(a - b) for a, b in zip(c, e, strict=True) if math.isfinite(a - b)]
        assert found.max_abs == pytest.approx(max(sizes, default=0.0), rel=1e-2)
        assert found.error_ratio is None


def test_errors_that_are_not_finite_have_no_size():
    wrong = torch.tensor([1.0, math.nan, math.inf])
    assert errors.exact("x", wrong, torch.ones(3)).metrics() == {}
    assert errors.exact("x", torch.ones(3), torch.ones(3)).metrics() == {"max_abs": 0, "max_rel": 0}
    wrong[0] = 3
    assert errors.exact("x", wrong, torch.ones(3)).metrics() == {"max_abs": 2, "max_rel": 2}


def test_different_element_count_is_not_compared():
    ones = torch.ones(3)
    with pytest.raises(ValueError, match="one shape"):
        errors.close("x", torch.ones(1), ones, ones.double())


def test_nan_tolerance_rejects_all():
    ones, scale = torch.ones(3), torch.tensor([1.0, NAN, 1.0])
    for truth in (ones, ones.double()):
        assert [m["index"] for m in errors.close("x", ones, ones, truth, scale).mismatches] == [[1]]
        assert errors.close("x", ones, ones, truth, NAN).wrong == 3
