"""Power, element by element.

`pow(input_tensor, exponent, out=None)` computes `input_tensor ** exponent`.

- `input_tensor`: a floating-point tensor. `exponent`: a Python number, or a tensor of the same dtype; tensors
  broadcast by PyTorch's rules, and the result has the broadcast shape and `input_tensor`'s dtype.
- A negative base has a result for integer exponents only (also those that come as floats, like 3.0); otherwise it is
  NaN.
- `x ** 0` is 1 and `1 ** y` is 1, both for NaN too. `0 ** y` is 0 for `y > 0` and infinite for `y < 0`. For exponents
  in a tensor all further special values are those of IEEE 754's `pow`; with a Python number as exponent the base is
  finite, and never negative or `-0.0` where that exponent is no integer.
- An error of `y * ln|x|` in its last place is tolerated: `exp2(y * log2|x|)` is accurate enough. Results beyond the
  dtype's range are infinite. Half precision is computed in float32 and rounded once.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

Arguments may be non-contiguous, expanded, empty or without dimensions; without `out` the result is a new tensor with
any strides.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "broadcast", "special-function")
MAGNITUDES = (-104, 56)

CASES = [
    dict(shape=(4099,), exponent=2.0),
    dict(shape=(37, 65), exponent=-0.5),
    dict(shape=(1021,), exponent=(1021,)),
    dict(shape=(257,), exponent=2.5),
    dict(shape=(1,), exponent=3.0),
    dict(shape=(7, 129), exponent=3.0),
    dict(shape=(), exponent=2.0),
    dict(shape=(999,), exponent=3, signed=True),
    dict(shape=(255,), exponent=2.5, low=0.0),
    dict(shape=(45,), exponent=(45,), strided=True),
    dict(shape=(37, 31), exponent=(37, 31)),
    dict(shape=(7, 1), exponent=(33,)),
    dict(shape=(5, 67), exponent=2.5, out=True),
    dict(shape=(256,), exponent=-2),
    dict(shape=(129,), exponent=0),
    dict(shape=(65,), exponent=2.5, dtype=torch.float16),
    dict(shape=(61,), exponent=(61,), dtype=torch.float64),
    dict(shape=(63,), exponent=(63,), ends=(-3.0, 3.0)),
    dict(shape=(11, 1), exponent=(13,), special=True),
    dict(shape=(0,), exponent=(0,)),
]

SIZES = [
    dict(shape=(4096,), exponent=2.5),
    dict(shape=(1024, 1024), exponent=2.5),
    dict(shape=(4096, 4096), exponent=3, signed=True),
    dict(shape=(83886080,), exponent=(83886080,)),
]

BASES = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5]
EXPONENTS = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, -0.5, 1.5]


def magnitude(input_tensor, exponent, out=None):
    """A rounding of the exponent of e is a relative error of the result; half precision is rounded at the end only."""
    if input_tensor.dtype.itemsize < 4:
        return 0.0
    x, y = input_tensor.double().abs(), exponent.double() if isinstance(exponent, torch.Tensor) else exponent
    return (x**y * (1 + (y * x.log()).abs())).nan_to_num(0, 0, 0)


CONTRACT = Close(scale=magnitude)


def pow(input_tensor, exponent, out=None):
    return torch.pow(input_tensor, exponent, out=out)


def inputs(
    make, shape, exponent, low=0.01, ends=(1.0, 3.0), signed=False, special=False, strided=False, out=False, dtype=None
):
    """Bases from `low` up unless `signed`, exponents between `ends`; `special` combines every special base with every special exponent."""
    x = make.floats(*shape, dtype=dtype, low=None if signed else low)
    y = make.plain(*exponent, dtype=dtype, low=ends[0], high=ends[1]) if isinstance(exponent, tuple) else exponent
    if special:
        x, y = torch.tensor(BASES, device=x.device)[:, None], torch.tensor(EXPONENTS, device=x.device)
    if strided:
        x, y = make.strided(x), make.strided(y)
    return call(x, y, out=torch.zeros_like(torch.pow(x, y)) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_exponential(input_tensor, exponent, out=None):
    """exp2(y log2 |x|), the sign put back for odd exponents, and the rules that the formula does not know."""
    x = input_tensor.to(torch.promote_types(input_tensor.dtype, torch.float32))
    y = torch.as_tensor(exponent, device=x.device).to(x.dtype)
    size = torch.where((y == 0) | (x.abs() == 1) & ~y.isnan(), 1.0, torch.exp2(y * torch.log2(x.abs())))
    size = torch.where(x == 1, 1.0, size)
    size = torch.where((x < 0) & x.isfinite() & (y != y.floor()) & y.isfinite(), float("nan"), size)
    odd = x.signbit() & (y.remainder(2) == 1)
    return _given(torch.where(odd, -size, size).to(input_tensor.dtype), out)


def positive_double(input_tensor, exponent, out=None):
    y = exponent.double() if isinstance(exponent, torch.Tensor) else exponent
    return _given(torch.pow(input_tensor.double(), y).to(input_tensor.dtype), out)


def negative_always_square(input_tensor, exponent, out=None):
    return _given(input_tensor.square().expand_as(torch.pow(input_tensor, exponent)).clone(), out)


def negative_absolute_base(input_tensor, exponent, out=None):
    return torch.pow(input_tensor.abs(), exponent, out=out)


def negative_logarithm_only(input_tensor, exponent, out=None):
    """exp(y log x) without care: NaN for every negative base."""
    return _given(torch.exp(exponent * torch.log(input_tensor)), out)


def negative_integer_exponent(input_tensor, exponent, out=None):
    y = exponent.trunc() if isinstance(exponent, torch.Tensor) else int(exponent)
    return torch.pow(input_tensor, y, out=out)


def negative_ignores_out(input_tensor, exponent, out=None):
    return torch.pow(input_tensor, exponent)
