"""A tensor of random numbers, uniform on [0, 1).

`rand(*size, generator=None, out=None, dtype=None, layout=torch.strided, device=None, requires_grad=False, pin_memory=False)`

- `size`: the shape, as ints or as one tuple of ints; sizes may be 0.
- `dtype`: float16, bfloat16, float32 or float64; `None` means float32, or `out`'s dtype.
- `device`: where the result lives, a `torch.device`: the GPU; named in each call without `out`.
- `out`: if given, a contiguous tensor of that shape and dtype; it is filled and returned.
- `generator`, `layout`, `pin_memory` always have their defaults. `requires_grad` changes no value, and whether the result
  requires a gradient is free.

The values themselves are free; they are judged by distribution:

- every value lies in `[0, 1)`, 1 excluded, *also after rounding to a half-precision dtype*;
- they are uniformly distributed and independent of their neighbours in a row, in a column and in the previous call;
- every call gives new values: seed from `torch`'s generator or count the calls;
- float32 and float64 values have at least 22 random bits: among a few thousand values repetitions are rare.
"""

import torch

from kbx.suite import Random, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("random", "elementwise", "memory-bound")
DISTRIBUTIONS = ("standard",)
SKIP_CONTROLS = {"permuted": "a permutation of random numbers is as random"}

CASES = [
    dict(size=(2, 3)),
    dict(size=(37, 83)),
    dict(size=(5, 1031)),
    dict(size=(61, 67), dtype=torch.float64),
    dict(size=(67, 129), requires_grad=True),
    dict(size=(1,)),
    dict(size=(4099,)),
    dict(size=((5, 13, 33),), dtype=torch.float32, out=True),
    dict(size=(61, 67), dtype=torch.float16),
    dict(size=(45, 101), dtype=torch.bfloat16),
    dict(size=(0, 5)),
]

SIZES = [dict(size=(64, 64)), dict(size=(1024, 1024)), dict(size=(4096, 8192)), dict(size=(16384, 16384))]


def rand(
    *size,
    generator=None,
    out=None,
    dtype=None,
    layout=torch.strided,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    return torch.rand(
        *size,
        generator=generator,
        out=out,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
        pin_memory=pin_memory,
    )


def inputs(make, size, dtype=None, requires_grad=False, out=False):
    if not out:
        return call(*size, dtype=dtype, device=make.device, requires_grad=requires_grad)
    shape = size[0] if isinstance(size[0], tuple) else size
    return call(*size, out=make.plain(*shape, dtype=dtype))


DEVIATIONS = 7
"""Standard deviations that a mean may be off: an honest generator exceeds it about once in 10¹¹ times."""
KOLMOGOROV = 3.6
"""Largest distance of the empirical distribution, times √n, for a like probability: 2 exp(-2 · 3.6²) = 10⁻¹¹."""
ENOUGH, SAMPLE = 500, 1 << 20
"""Elements below which no statistics are made, and how many of a large tensor enter them."""


def check(args, kwargs, results, expected):
    draws = []
    for result in results:
        if isinstance(result, dict):
            if not torch.equal(result["output"], result["out"]):
                return ["out does not hold what was returned"]
            result = result["output"]
        if not ((result >= 0) & (result < 1)).all():
            return ["a value lies outside [0, 1)"]
        draws.append(result)
    if draws[0].numel() < ENOUGH:
        return []
    return [complaint for draw in draws for complaint in _distribution(draw)] + _fresh(draws)


def _distribution(draw):
    """One draw: uniform, neighbours unrelated, bits enough."""
    flat = draw.reshape(-1)
    spread = flat[:: -(-flat.numel() // SAMPLE)].double()
    n, complaints = spread.numel(), []
    grid = torch.arange(n, device=flat.device, dtype=torch.float64) / n
    distance = float((spread.sort().values - grid).abs().max()) * n**0.5
    coarse = torch.finfo(draw.dtype).eps * n**0.5
    if not distance <= KOLMOGOROV + coarse + 1:
        complaints.append(f"not uniform: Kolmogorov-Smirnov distance {distance:.2f}/√n")
    row = draw.shape[-1] if draw.dim() > 1 else 2
    start = flat[: SAMPLE + row].double() - 0.5
    complaints += _related("neighbours in a row", start[1:] * start[:-1])
    complaints += _related("neighbours in a column", start[row:] * start[:-row])
    distinct = flat[:SAMPLE].unique().numel()
    few = min(flat.numel(), SAMPLE) * (1 - min(flat.numel(), SAMPLE) / 2**22)
    if draw.dtype in (torch.float32, torch.float64) and distinct < few - 5:
        complaints.append(f"too few random bits: {distinct} different values among {min(flat.numel(), SAMPLE)}")
    return complaints


def _fresh(draws):
    if len(draws) == 1:
        return []
    one, two = (d.reshape(-1)[:SAMPLE].double() - 0.5 for d in draws[:2])
    return _related("two calls", one * two)


def _related(what, products):
    """The products of two independent centred values have mean 0 and deviation 1/12."""
    deviations = float(products.mean()) * 12 * products.numel() ** 0.5
    return [] if abs(deviations) <= DEVIATIONS else [f"{what} are related: {deviations:.1f} standard deviations"]


CONTRACT = Random(check, strides="contiguous")


def _shape(size):
    return size[0] if size and not isinstance(size[0], int) else size


def _given(values, out, dtype, device):
    if out is not None:
        return out.copy_(values)
    return values.to(device=device, dtype=dtype or torch.float32)


def positive_integer_bits(
    *size,
    generator=None,
    out=None,
    dtype=None,
    layout=torch.strided,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """As many random bits as the dtype's mantissa holds, scaled: never rounds up to 1."""
    bits = {torch.float16: 11, torch.bfloat16: 8}.get(dtype, 24)
    return _given(torch.randint(2**bits, _shape(size)).double() / 2**bits, out, dtype, device)


def negative_normal(
    *size,
    generator=None,
    out=None,
    dtype=None,
    layout=torch.strided,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    return _given(torch.randn(_shape(size)), out, dtype, device)


def negative_half_range(
    *size,
    generator=None,
    out=None,
    dtype=None,
    layout=torch.strided,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    return _given(torch.rand(_shape(size)) * 0.5, out, dtype, device)


def negative_same_values_every_call(
    *size,
    generator=None,
    out=None,
    dtype=None,
    layout=torch.strided,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    return _given(torch.rand(_shape(size), generator=torch.Generator().manual_seed(0)), out, dtype, device)


def negative_same_values_in_every_block(
    *size,
    generator=None,
    out=None,
    dtype=None,
    layout=torch.strided,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """Every block of 256 draws from the same offsets."""
    shape = torch.Size(_shape(size))
    values = torch.rand(256).repeat(-(-shape.numel() // 256))[: shape.numel()]
    return _given(values.reshape(shape), out, dtype, device)


def negative_sixteen_bits(
    *size,
    generator=None,
    out=None,
    dtype=None,
    layout=torch.strided,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    return _given(torch.randint(2**16, _shape(size)).double() / 2**16, out, dtype, device)


def negative_rounds_up_to_one(
    *size,
    generator=None,
    out=None,
    dtype=None,
    layout=torch.strided,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """A float32 number below 1 becomes 1 when it is rounded to half precision."""
    return _given(torch.rand(_shape(size)), out, dtype, device)


def negative_a_ramp(
    *size,
    generator=None,
    out=None,
    dtype=None,
    layout=torch.strided,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """Evenly spaced: as uniform as can be, and no more random than that."""
    shape = torch.Size(_shape(size))
    return _given((torch.arange(shape.numel()) / max(1, shape.numel())).reshape(shape), out, dtype, device)
