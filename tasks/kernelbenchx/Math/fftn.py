"""Discrete Fourier transform over several dimensions.

`fftn(input, s=None, dim=None, norm=None, out=None)` transforms a real (float32) or complex (complex64) tensor. Over one
dimension of length `N` it is

    X[k] = sum over j of x[j] · exp(-2 pi i · j k / N),      k = 0 … N-1,

and over several, one after the other. Every output frequency is returned, also of real input.

- `dim`: a tuple of ints, negative ones count from the end. By default all dimensions, or the last `len(s)` ones if `s`
  is given.
- `s`: a tuple with a length for each dimension of `dim`. Before the transform the dimension is cut to that length, or
  filled up with zeros, at its end; -1 leaves it as it is. By default nothing changes.
- `norm`: `"backward"` or None: no factor; `"forward"`: the result divided by `n`; `"ortho"`: by `sqrt(n)`; `n` is the
  product of the transformed lengths, after `s`.
- `out`: if given, a contiguous complex64 tensor of the result's shape; it is filled and returned.

The result is complex64. Lengths are any, primes too, and at least 1; no dimension is empty. `input` may be
non-contiguous; without `out` the result is a new tensor with any strides. Errors grow with log N in a fast transform; a
plain sum in float32 is accurate enough for short dimensions.
"""

import math

import torch

from kbx.suite import Close, call

DIFFICULTY = 5
DTYPE = "float32"
TAGS = ("complex", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(12, 17)),
    dict(shape=(6, 15), s=(9, 10)),
    dict(shape=(11, 13), dim=(0, 1)),
    dict(shape=(37, 5), norm="ortho"),
    dict(shape=(16, 29), dim=(0, 1), norm="ortho"),
    dict(shape=(1, 1)),
    dict(shape=(37,)),
    dict(shape=(8, 9), complex_input=True),
    dict(shape=(12, 16), strided=True),
    dict(shape=(5, 8, 9)),
    dict(shape=(2, 3, 4, 5)),
    dict(shape=(5, 12), norm="forward"),
    dict(shape=(2, 128), dim=(-1,)),
    dict(shape=(11, 5), s=(16,)),
    dict(shape=(4, 11), s=(-1, 3), dim=(1, 0), norm="ortho"),
    dict(shape=(4, 6), out=True),
]

SIZES = [
    dict(shape=(64, 64)),
    dict(shape=(512, 512)),
    dict(shape=(2048, 4096)),
    dict(shape=(6144, 6144)),
    dict(shape=(8192, 4096), dim=(0, 1), norm="ortho"),
]

CONTRACT = Close()


def fftn(input, s=None, dim=None, norm=None, out=None):
    return torch.fft.fftn(input, s=s, dim=dim, norm=norm, out=out)


def inputs(make, shape, s=None, dim=None, norm=None, complex_input=False, strided=False, out=False):
    x = make.floats(*shape, dtype=torch.complex64 if complex_input else None)
    target = torch.zeros_like(torch.fft.fftn(x, s=s, dim=dim)).contiguous() if out else None
    return call(make.strided(x) if strided else x, s=s, dim=dim, norm=norm, out=target)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _transformed(input, s, dim):
    """Dimensions to transform, counted from 0, and their lengths."""
    if dim is None:
        dim = range(input.dim()) if s is None else range(input.dim() - len(s), input.dim())
    dim = [d % input.dim() for d in dim]
    return dim, [input.shape[d] if s is None or s[i] == -1 else s[i] for i, d in enumerate(dim)]


def _resized(x, d, length):
    x = x.narrow(d, 0, min(length, x.shape[d]))
    missing = length - x.shape[d]
    return torch.cat([x, x.new_zeros(*x.shape[:d], missing, *x.shape[d + 1 :])], d) if missing else x


def _dft(x, d):
    """A product with the matrix of exp(-2 pi i j k / N), the angles reduced in integers."""
    n = x.shape[d]
    k = torch.arange(n, device=x.device)
    angle = (k * k[:, None] % n).double() * (-2 * math.pi / n)
    return (x.movedim(d, -1) @ torch.polar(torch.ones_like(angle), angle).to(x.dtype)).movedim(-1, d)


def positive_dft_matrix(input, s=None, dim=None, norm=None, out=None):
    result = input.to(torch.promote_types(input.dtype, torch.complex64))
    dims, lengths = _transformed(input, s, dim)
    for d, length in zip(dims, lengths, strict=True):
        result = _dft(_resized(result, d, length), d)
    n = math.prod(lengths)
    return _given(result / {"ortho": math.sqrt(n), "forward": n}.get(norm, 1), out)


def positive_one_by_one(input, s=None, dim=None, norm=None, out=None):
    """Several transforms over one dimension each, in the other order."""
    result = input
    for d, length in [*zip(*_transformed(input, s, dim), strict=True)][::-1]:
        result = torch.fft.fft(result, n=length, dim=d, norm=norm)
    return _given(result, out)


def negative_ignores_norm(input, s=None, dim=None, norm=None, out=None):
    return torch.fft.fftn(input, s=s, dim=dim, out=out)


def negative_inverse(input, s=None, dim=None, norm=None, out=None):
    """The other sign in the exponent."""
    other = {"forward": "backward", "ortho": "ortho"}.get(norm, "forward")
    return torch.fft.ifftn(input, s=s, dim=dim, norm=other, out=out)


def negative_last_dimension_only(input, s=None, dim=None, norm=None, out=None):
    dims, lengths = _transformed(input, s, dim)
    result = input.to(torch.complex64)
    for d, length in zip(dims[:-1], lengths, strict=False):
        result = _resized(result, d, length)
    return _given(torch.fft.fft(result, n=lengths[-1], dim=dims[-1], norm=norm), out)


def negative_norm_of_input_lengths(input, s=None, dim=None, norm=None, out=None):
    """Divides by the lengths before `s`."""
    dims, _ = _transformed(input, s, dim)
    n = math.prod(input.shape[d] for d in dims)
    return _given(torch.fft.fftn(input, s=s, dim=dim) / {"ortho": math.sqrt(n), "forward": n}.get(norm, 1), out)


def negative_zeros_in_front(input, s=None, dim=None, norm=None, out=None):
    """Pads and cuts at the beginning."""
    dims, lengths = _transformed(input, s, dim)
    x = input.flip(dims)
    for d, length in zip(dims, lengths, strict=True):
        x = _resized(x, d, length)
    return torch.fft.fftn(x.flip(dims), dim=dims, norm=norm, out=out)


def negative_ignores_out(input, s=None, dim=None, norm=None, out=None):
    return torch.fft.fftn(input, s=s, dim=dim, norm=norm)
