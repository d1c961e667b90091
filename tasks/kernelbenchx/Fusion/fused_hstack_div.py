"""Tensors put side by side, then divided.

`fused_hstack_div(tensors, divisor, *, rounding_mode=None, out=None)`

1. `tensors` is a list or tuple of tensors of one dtype, float32 or integer. They are joined along the first dimension
   if they are one-dimensional, and along the second otherwise; 0-dimensional tensors count as vectors of one element.
   All other dimensions agree.
2. The result is divided by `divisor`, a Python number or a tensor of the same dtype that broadcasts to the joined
   shape:
   - `rounding_mode=None`: true division. Integers give float32. A zero divisor follows IEEE: ±inf, or NaN for 0 / 0.
   - `'trunc'`: the quotient rounded towards zero. `'floor'`: the quotient rounded down, so that -7 by 2 gives -4. Both
     keep the dtype: int32 gives int32. Zero divisors do not occur, and float quotients that are rounded have exact
     float32 values.

`out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned. Arguments may be
non-contiguous, expanded or empty; without `out` the result is a new tensor with any strides.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "broadcast", "memory-bound", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shapes=[(67,), (129,)], divisor=2.0),
    dict(shapes=[(37, 29), (37, 31)], divisor=2.0, rounding_mode="floor"),
    dict(shapes=[(131, 1), (131, 7)], divisor=2, rounding_mode="trunc"),
    dict(shapes=[(31,), (34,)], divisor=2, dtype=torch.int64),
    dict(shapes=[(3, 1031), (3, 17)], divisor=2.0),
    dict(shapes=[(1,)], divisor=2),
    dict(shapes=[(67,), (129,), (3,)], divisor=2.0, out=True),
    dict(shapes=[(17, 33), (17, 12)], divisor=2.0, strided=True),
    dict(shapes=[(5, 3, 7), (5, 1, 7), (5, 4, 7)], divisor=2.0),
    dict(shapes=[(17, 33), (17, 12)], divisor=(17, 1), zeros=True),
    dict(shapes=[(9, 21), (9, 20)], divisor=(41,), rounding_mode="floor", exact=True),
    dict(shapes=[(31,), (34,)], divisor=2, rounding_mode="floor", dtype=torch.int32),
    dict(shapes=[(31,), (34,)], divisor=2, rounding_mode="trunc", dtype=torch.int64, large=True),
    dict(shapes=[(), (3,), ()], divisor=2),
    dict(shapes=[(0, 4), (0, 2)], divisor=2.0),
]

SIZES = [
    dict(shapes=[(4096,), (4096,)], divisor=2.0),
    dict(shapes=[(1024, 512), (1024, 512)], divisor=2.0),
    dict(shapes=[(4096, 2048), (4096, 2048)], divisor=2.0, rounding_mode="floor"),
    dict(shapes=[(67108864,), (67108864,)], divisor=2.0),
]

CONTRACT = Close()


def fused_hstack_div(tensors, divisor, *, rounding_mode=None, out=None):
    result = torch.div(torch.hstack(tensors), divisor, rounding_mode=rounding_mode)
    return result if out is None else out.copy_(result)


def inputs(
    make, shapes, divisor, rounding_mode=None, dtype=None, large=False, exact=False, zeros=False, strided=False,
    out=False,
):  # fmt: skip
    """``exact``: multiples of 1/4 over powers of two. Divisors keep away from zero, unless ``zeros`` are wanted."""

    def numbers(*shape):
        if dtype or exact:
            high = 2**48 if large else 26
            return make.ints(*shape, low=-high, high=high, dtype=dtype) if dtype else _quarters(make, shape)
        return make.floats(*shape)

    tensors = [numbers(*shape) for shape in shapes]
    if isinstance(divisor, tuple):
        sign = 2 * make.bools(*divisor).to(torch.int64) - 1
        if dtype:
            divisor = (sign * make.ints(*divisor, low=1, high=20)).to(dtype)
        elif exact:
            divisor = (sign * 2.0 ** make.ints(*divisor, low=-1, high=4)).to(make.dtype)
        else:
            divisor = sign * make.plain(*divisor, low=0.1, high=3.0)
        if zeros:
            divisor.view(-1)[0] = 0.0
    if strided:
        tensors = [make.strided(t) for t in tensors]
        divisor = make.strided(divisor) if isinstance(divisor, torch.Tensor) else divisor
    target = torch.full_like(fused_hstack_div(tensors, divisor, rounding_mode=rounding_mode), 7) if out else None
    return call(tensors, divisor, rounding_mode=rounding_mode, out=target)


def _quarters(make, shape):
    values = make.ints(*shape, low=-100, high=100).to(make.dtype) / 4
    return torch.where(values == 0, 0.25, values)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_piece_by_piece(tensors, divisor, *, rounding_mode=None, out=None):
    """Each tensor divided by its part of the divisor and stored in its place."""
    tensors = [t.reshape(-1) if t.dim() < 2 else t for t in tensors]
    along = 0 if tensors[0].dim() == 1 else 1
    shape = list(tensors[0].shape)
    shape[along] = sum(t.shape[along] for t in tensors)
    d = torch.as_tensor(divisor, dtype=tensors[0].dtype, device=tensors[0].device).expand(shape)
    kind = torch.float32 if rounding_mode is None and not d.is_floating_point() else d.dtype
    result, start = torch.empty(shape, dtype=kind, device=d.device), 0
    for t in tensors:
        part = t.double() / d.narrow(along, start, t.shape[along]).double()
        if rounding_mode is not None:
            part = torch.trunc(part) if rounding_mode == "trunc" else torch.floor(part)
        result.narrow(along, start, t.shape[along]).copy_(part)
        start += t.shape[along]
    return _given(result, out)


def negative_ignores_rounding(tensors, divisor, *, rounding_mode=None, out=None):
    return _given(torch.div(torch.hstack(tensors), divisor), out)


def negative_floor_as_trunc(tensors, divisor, *, rounding_mode=None, out=None):
    mode = "trunc" if rounding_mode == "floor" else rounding_mode
    return _given(torch.div(torch.hstack(tensors), divisor, rounding_mode=mode), out)


def negative_trunc_as_floor(tensors, divisor, *, rounding_mode=None, out=None):
    mode = "floor" if rounding_mode == "trunc" else rounding_mode
    return _given(torch.div(torch.hstack(tensors), divisor, rounding_mode=mode), out)


def negative_first_dimension(tensors, divisor, *, rounding_mode=None, out=None):
    """Below instead of beside, where the shapes allow it."""
    flat = torch.cat([t.reshape(-1) for t in tensors])
    x = flat.view(torch.hstack(tensors).shape)
    return _given(torch.div(x, divisor, rounding_mode=rounding_mode), out)


def negative_reversed(tensors, divisor, *, rounding_mode=None, out=None):
    return _given(torch.div(torch.hstack(list(tensors)[::-1]), divisor, rounding_mode=rounding_mode), out)


def negative_ignores_out(tensors, divisor, *, rounding_mode=None, out=None):
    return torch.div(torch.hstack(tensors), divisor, rounding_mode=rounding_mode)


def negative_integers_as_float(tensors, divisor, *, rounding_mode=None, out=None):
    """Integer quotients by way of float32."""
    x = torch.hstack(tensors)
    if rounding_mode is None or x.is_floating_point():
        return _given(torch.div(x, divisor, rounding_mode=rounding_mode), out)
    quotient = torch.div(x.float(), divisor)
    return _given((quotient.floor() if rounding_mode == "floor" else quotient.trunc()).to(x.dtype), out)
