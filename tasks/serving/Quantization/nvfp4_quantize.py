"""NVFP4 quantization: four-bit floats with an 8-bit scale for each 16 of them, and one float32 scale for the tensor.

`nvfp4_quantize(x, global_scale)` returns the tuple `(packed, scale)` for bfloat16 `x` `(T, H)`, `H` a multiple of 16, and `global_scale`, a float32
tensor `(1,)`, as it was calibrated: about `448 · 6` over the largest magnitude that `x` had then.

- A *block* is 16 neighbours of a row. `scale` is float8 e4m3 (`torch.float8_e4m3fn`) `(T, H / 16)`: `global_scale · m / 6`, with `m` the largest
  magnitude in the block, rounded to nearest and at most 448.
- With `s` the scale *as it was rounded*, an element is `x · global_scale / s`, and 0 where `s` is 0, rounded to the nearest number of E2M1 (0,
  0.5, 1, 1.5, 2, 3, 4, 6, with codes 0 to 7 in this order; adding 8 to the code negates) and brought to 6 or -6 where it is beyond.
- `packed` is uint8 `(T, H / 2)`: byte `j` holds the code of element `2j` in its low half, and that of `2j + 1` in its high half.

The arithmetic is float32. Where a number lies within 2^-20 of itself of the middle between two, in which the last bits of a division decide, it
may be rounded either way (ties included), and a zero may have either sign; elsewhere the result is exact, given the scales that were returned.
`x` is contiguous, `T ≥ 1`; both results are new and contiguous.

Sizes: what linear layers of DeepSeek-V3 and R1 (7168, experts 2048), Llama 3.1 8B (4096), 70B (8192) and 405B (16384) take, after their
model cards, which NVIDIA publishes in this format; decode batches of 64 and 256 tokens and prefills. Weights are in proportion to the
elements, decode batches counted 16 times.
"""

import torch

from kbx.suite import Property, call, microscaling

DIFFICULTY = 3
DTYPE = "bfloat16"
TAGS = ("quantization", "fp4", "nvfp4", "memory-bound", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "wide", "large", "zeros")

CASES = [
    dict(tokens=37, hidden=128),
    dict(tokens=5, hidden=1040),
    dict(tokens=131, hidden=64),
    dict(tokens=1, hidden=2048),
    dict(tokens=67, hidden=16),
    dict(tokens=1, hidden=16),
    dict(tokens=19, hidden=480, zero_blocks=True),
    dict(tokens=33, hidden=96, spread=True),
    dict(tokens=3, hidden=4112, calibrated=4.0),
    dict(tokens=64, hidden=48, calibrated=0.25),
]

SIZES = [
    dict(tokens=64, hidden=7168),
    dict(tokens=256, hidden=16384),
    dict(tokens=32768, hidden=2048),
    dict(tokens=8192, hidden=4096),
    dict(tokens=8192, hidden=7168),
    dict(tokens=16384, hidden=8192),
]
WEIGHTS = [7, 67, 67, 34, 59, 134]

SLACK = 2.0**-20
"""How near to the middle between two numbers, relative to itself, a quotient may be rounded either way."""


def complaints(args, kwargs, result, expected):
    """What is wrong with a result: first its scales, then its elements by these scales."""
    x, global_scale = args
    blocks, scale = x.unflatten(1, (-1, 16)).double(), result[1].double()
    exact = global_scale.double() * blocks.abs().amax(2) / 6
    ends = [(exact * (1 + sign * SLACK)).clamp(max=448).to(torch.float8_e4m3fn).double() for sign in (-1, 1)]
    wrong = (scale != ends[0]) & (scale != ends[1])
    if wrong.any():
        yield f"{int(wrong.sum())} of {wrong.numel()} scales are not those of their blocks"
    quotient = torch.where(scale > 0, global_scale.double() / scale, 0)[:, :, None] * blocks
    quotient = quotient.flatten(1)
    got = microscaling.of_e2m1(microscaling.unpacked(result[0]), torch.float64)
    lower, upper = (
        microscaling.of_e2m1(microscaling.e2m1(quotient * (1 + sign * SLACK)), torch.float64) for sign in (-1, 1)
    )
    wrong = (got != lower) & (got != upper)
    if wrong.any():
        yield f"{int(wrong.sum())} of {wrong.numel()} elements are not the nearest numbers"


CONTRACT = Property(complaints, strides="contiguous")


NUMBERS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def _codes(x):
    """Of the numbers that are nearest to elements, ties to the even code."""
    size, code = x.abs(), torch.zeros(x.shape, dtype=torch.uint8, device=x.device)
    for below in range(7):
        half_way = (NUMBERS[below] + NUMBERS[below + 1]) / 2
        code += size >= half_way if below % 2 else size > half_way
    return code | x.signbit().to(torch.uint8) << 3


def nvfp4_quantize(x, global_scale):
    blocks = x.unflatten(1, (-1, 16)).float()
    scale = (global_scale * blocks.abs().amax(2) / 6).clamp(max=448).to(torch.float8_e4m3fn)
    factor = torch.where(scale.float() > 0, global_scale / scale.float(), 0)
    codes = _codes(blocks * factor[:, :, None]).flatten(1)
    return codes[:, ::2] | codes[:, 1::2] << 4, scale


def inputs(make, tokens, hidden, zero_blocks=False, spread=False, calibrated=1.0):
    """`calibrated`: the largest magnitude that was seen, over that of `x`."""
    x = make.floats(tokens, hidden)
    if spread:
        x = x * make.plain(tokens, hidden // 16, low=-8, high=4).exp2().repeat_interleave(16, 1)
    if zero_blocks:
        x[:, : hidden // 2] = 0
    top = x.float().abs().amax().reshape(1)
    return call(x, torch.where(top > 0, 448 * 6 / (calibrated * top), 1))


def positive_quotient(x, global_scale):
    """Divides by the scale of the tensor and that of the block together."""
    blocks, inverse = x.unflatten(1, (-1, 16)).float(), 1 / global_scale
    scale = (blocks.abs().amax(2) * (global_scale * (1 / 6))).clamp(max=448).to(torch.float8_e4m3fn)
    quotient = torch.where(scale.float()[:, :, None] > 0, blocks / (scale.float() * inverse)[:, :, None], 0)
    return microscaling.packed(microscaling.e2m1(quotient).flatten(1)), scale


def positive_ties_away_from_zero(x, global_scale):
    blocks = x.unflatten(1, (-1, 16)).float()
    scale = nvfp4_quantize(x, global_scale)[1]
    quotient = torch.where(scale.float() > 0, global_scale / scale.float(), 0)[:, :, None] * blocks
    return microscaling.packed(microscaling.e2m1(quotient * (1 + 2.0**-22)).flatten(1)), scale


def _by(x, global_scale, scale, codes=microscaling.e2m1):
    factor = torch.where(scale.float() > 0, global_scale / scale.float(), 0)
    quotient = x.unflatten(1, (-1, 16)).float() * factor[:, :, None]
    return microscaling.packed(codes(quotient).flatten(1)), scale.to(torch.float8_e4m3fn)


def negative_scale_before_rounding(x, global_scale):
    """Divides the elements by the scale as it was before it became 8 bits."""
    scale = global_scale * x.unflatten(1, (-1, 16)).float().abs().amax(2) / 6
    return _by(x, global_scale, scale.clamp(max=448))


def negative_no_global_scale(x, global_scale):
    return nvfp4_quantize(x, torch.ones_like(global_scale))


def negative_reciprocal_global_scale(x, global_scale):
    return nvfp4_quantize(x, 1 / global_scale)


def negative_halves_swapped(x, global_scale):
    packed, scale = nvfp4_quantize(x, global_scale)
    return packed << 4 | packed >> 4, scale


def negative_power_of_two_scale(x, global_scale):
    """Scales as those of MXFP4."""
    scale = nvfp4_quantize(x, global_scale)[1].float()
    return _by(x, global_scale, torch.where(scale > 0, torch.exp2(torch.floor(torch.log2(scale))), 0))


def negative_blocks_of_32(x, global_scale):
    """One scale for two blocks."""
    scale = nvfp4_quantize(x, global_scale)[1].float()
    pairs = torch.nn.functional.pad(scale, (0, scale.shape[1] % 2)).unflatten(1, (-1, 2)).amax(2)
    return _by(x, global_scale, pairs.repeat_interleave(2, 1)[:, : scale.shape[1]].contiguous())


def negative_truncated(x, global_scale):
    def cut(quotient):
        near = microscaling.e2m1(quotient)
        return near - (microscaling.of_e2m1(near).abs() > quotient.abs()).to(torch.uint8)

    return _by(x, global_scale, nvfp4_quantize(x, global_scale)[1], cut)


def negative_largest_is_four(x, global_scale):
    """Leaves the code of 6 unused."""
    scale = (global_scale * x.unflatten(1, (-1, 16)).float().abs().amax(2) / 4).clamp(max=448)
    return _by(x, global_scale, scale.to(torch.float8_e4m3fn))


def negative_linear_levels(x, global_scale):
    """Sixteen equal steps, as int4 has."""

    def levels(quotient):
        code = torch.round(quotient.abs() * 7 / 6).clamp(max=7).to(torch.uint8)
        return code | quotient.signbit().to(torch.uint8) << 3

    return _by(x, global_scale, nvfp4_quantize(x, global_scale)[1], levels)
