"""Numbers that are evenly spaced on a logarithmic scale.

`logspace(start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False)`

The result is a tensor of `steps` elements, `steps ≥ 0`, with

    result[i] = base ** (start + i · (end - start) / (steps - 1)),     i = 0 … steps - 1,

so that the first is `base ** start` and the last `base ** end`, both up to rounding; one step gives `base ** start`.

- `start`, `end`: Python numbers or 0-dimensional float32 tensors, in any order. `base`: a positive Python number, which
  may be 1 or less.
- `dtype`: float32 or float64; `None` means float32.
- `device`: where the result lives, a `torch.device`: the GPU; named in each call.
- `layout` always has its default. `requires_grad` changes no value, and whether the result requires a gradient is free.

No element overflows or is subnormal. Each element is judged by its own size: its relative error may be no more than
`(8 + 6 · |ln(base)| · max(|start|, |end|))` units of the dtype's roundoff, so the exponent needs the full precision of
the dtype, also for millions of steps.
"""

import math

import torch

from kbx.suite import Property, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "special-function", "memory-bound")
DISTRIBUTIONS = ("standard",)

CASES = [
    dict(steps=5, start=1.0),
    dict(steps=37, start=0.0, base=2.0),
    dict(steps=4099, start=0.0),
    dict(steps=1021, start=1.0, dtype=torch.float64),
    dict(steps=257, start=1.0, requires_grad=True),
    dict(steps=1),
    dict(steps=2),
    dict(steps=1021, base=2.0, widest=100, dtype=torch.float32),
    dict(steps=777, base=0.5, widest=20),
    dict(steps=1501, widest=30, dtype=torch.float64),
    dict(steps=333, base=math.e, tensors=True),
    dict(steps=45, start=1.0, base=1.0),
    dict(steps=1, base=3, tensors=True, dtype=torch.float64),
    dict(steps=257, constant=True),
    dict(steps=0),
]

SIZES = [
    dict(steps=4096, start=1.0),
    dict(steps=1048576, start=1.0),
    dict(steps=33554432, start=0.0),
    dict(steps=268435456, start=0.0),
]


def logspace(start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    return torch.logspace(
        start, end, steps, base=base, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def inputs(
    make, steps, start=None, base=10.0, widest=5, dtype=None, requires_grad=False, tensors=False, constant=False
):
    """Without ``start``, both ends lie between -``widest`` and ``widest``, in any order."""
    if start is None:
        start, end = make.plain(low=-widest, high=widest), make.plain(low=-widest, high=widest)
        end = start.clone() if constant else end
        start, end = (start, end) if tensors else (start.item(), end.item())
    else:
        end = make.plain(low=2.0, high=4.0).item()
    return call(start, end, steps, base=base, dtype=dtype, device=make.device, requires_grad=requires_grad)


CHUNK = 1 << 24
"""Elements compared at a time."""


def check(args, kwargs, result, expected):
    start, end, steps = float(args[0]), float(args[1]), args[2]
    base, roundoff = float(kwargs["base"]), torch.finfo(result.dtype).eps / 2
    allowed = roundoff * (8 + 6 * abs(math.log(base)) * max(abs(start), abs(end)))
    for first in range(0, steps, CHUNK):
        got = result[first : first + CHUNK].double()
        place = torch.arange(first, first + len(got), dtype=torch.float64, device=got.device)
        exponent = start + place * ((end - start) / max(1, steps - 1))
        error = (got / torch.pow(base, exponent) - 1).abs()
        if not (error <= allowed).all():
            worst = int(error.nan_to_num(torch.inf).argmax())
            return [f"element {first + worst} is {float(error[worst]) / roundoff:.3g} units of roundoff off"]
    return []


CONTRACT = Property(check, strides="contiguous")


def _powers(exponents, base, dtype):
    return torch.pow(base, exponents).to(dtype or torch.float32)


def _exponents(start, end, steps, device, dtype=torch.float64, divisor=1):
    place = torch.arange(steps, dtype=dtype, device=device)
    return float(start) + place * ((float(end) - float(start)) / max(1, steps - divisor))


def positive_exponential(
    start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False
):
    """exp of the exponent times ln(base), in float64."""
    return torch.exp(_exponents(start, end, steps, device) * math.log(base)).to(dtype or torch.float32)


def positive_from_both_ends(
    start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False
):
    """At the dtype's own precision, each half counted from its end."""
    place = torch.arange(steps, dtype=dtype or torch.float32, device=device)
    step = (float(end) - float(start)) / max(1, steps - 1)
    exponents = torch.where(place < steps / 2, start + step * place, end - step * (steps - 1 - place))
    return _powers(exponents if steps > 1 else start + place, base, dtype)


def negative_end_left_out(
    start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False
):
    return _powers(_exponents(start, end, steps, device, divisor=0), base, dtype)


def negative_base_ten(start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    return _powers(_exponents(start, end, steps, device), 10.0, dtype)


def negative_linear(start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    """Evenly spaced from base ** start to base ** end."""
    return _exponents(base ** float(start), base ** float(end), steps, device).to(dtype or torch.float32)


def negative_step_added_up(
    start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False
):
    """Multiplies one element to make the next: the errors pile up."""
    ratio = torch.tensor(base ** ((float(end) - float(start)) / max(1, steps - 1)), device=device)
    factors = torch.cat((torch.tensor([base ** float(start)], device=device), ratio.expand(max(0, steps - 1))))
    return factors[:steps].float().cumprod(0).to(dtype or torch.float32)


def negative_float32_inside(
    start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False
):
    return _powers(_exponents(start, end, steps, device, torch.float32), base, torch.float32).to(dtype or torch.float32)


def negative_half_precision_exponent(
    start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False
):
    return _powers(_exponents(start, end, steps, device).half().double(), base, dtype)


def negative_fast_power(
    start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False
):
    """exp2 of the exponent times log2(base), the product rounded to 16 bits."""
    product = _exponents(start, end, steps, device) * math.log2(base)
    return torch.exp2((product * 1024).round() / 1024).to(dtype or torch.float32)
