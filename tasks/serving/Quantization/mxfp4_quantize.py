"""MXFP4 quantization: four-bit floats with a power of two for each 32 of them.

`mxfp4_quantize(x)` returns the tuple `(packed, scale)` for bfloat16 `x` `(T, H)`, `H` a multiple of 32, by the OCP Microscaling Formats
specification 1.0:

- A *block* is 32 neighbours of a row. Its scale is the power of two `2^e` with `e = floor(log2(m)) - 2`, where `m` is the largest magnitude in
  the block, and -127 where `m` is zero. `scale` is uint8 `(T, H / 32)` and holds `e + 127` (E8M0).
- An element is `x / 2^e`, rounded to the nearest number of E2M1, ties to even, and brought to 6 or -6 where it is beyond. The numbers are
  0, 0.5, 1, 1.5, 2, 3, 4 and 6, with codes 0 to 7 in this order; adding 8 to the code negates. The sign of zeros is kept: -0.1 has code 8
  where it rounds to zero. *Even* is an even code: 2.5 becomes 2 (code 4), 5 becomes 4 (code 6).
- `packed` is uint8 `(T, H / 2)`: byte `j` holds the code of element `2j` in its low half, and that of `2j + 1` in its high half.

Both results are exact: dividing by a power of two does not round. Elements are 0 or between 2^-80 and 2^100 in magnitude. `x` is contiguous, `T ≥
1`; both results are new and contiguous.

Sizes: activations of gpt-oss-20b and 120b (hidden size 2880), Llama 3.1 8B (4096, 14336) and 70B (8192), and DeepSeek-V3 (7168), after their
model cards; decode batches of 64 and 256 tokens and prefills. Weights are in proportion to the elements, decode batches counted 16 times.
"""

import torch

from kbx.suite import Exact, call, microscaling

DIFFICULTY = 3
DTYPE = "bfloat16"
TAGS = ("quantization", "fp4", "mx", "memory-bound", "inference")

CASES = [
    dict(tokens=37, hidden=128),
    dict(tokens=5, hidden=1056),
    dict(tokens=131, hidden=64),
    dict(tokens=1, hidden=2880),
    dict(tokens=67, hidden=32),
    dict(tokens=1, hidden=32),
    dict(tokens=19, hidden=480, zero_blocks=True),
    dict(tokens=33, hidden=96, spread=True),
    dict(tokens=8, hidden=256, ties=True),
    dict(tokens=3, hidden=4160),
]

SIZES = [
    dict(tokens=64, hidden=2880),
    dict(tokens=256, hidden=7168),
    dict(tokens=4096, hidden=2880),
    dict(tokens=8192, hidden=4096),
    dict(tokens=4096, hidden=14336),
    dict(tokens=16384, hidden=8192),
]
WEIGHTS = [3, 29, 12, 34, 59, 134]

CONTRACT = Exact(strides="contiguous")


NUMBERS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def _codes(x):
    """Of the numbers that are nearest to elements, ties to the even code."""
    size, code = x.abs(), torch.zeros(x.shape, dtype=torch.uint8, device=x.device)
    for below in range(7):
        half_way = (NUMBERS[below] + NUMBERS[below + 1]) / 2
        code += size >= half_way if below % 2 else size > half_way
    return code | x.signbit().to(torch.uint8) << 3


def mxfp4_quantize(x):
    blocks = x.unflatten(1, (-1, 32)).to(torch.promote_types(x.dtype, torch.float32))
    top = blocks.abs().amax(2)
    exponent = torch.where(top > 0, torch.frexp(top).exponent - 3, -127).clamp(
        -127, 127
    )  # that of frexp is floor(log2) + 1
    power = torch.exp2(exponent.double()).to(blocks.dtype)
    codes = _codes(blocks / power[:, :, None]).flatten(1)
    return codes[:, ::2] | codes[:, 1::2] << 4, (exponent + 127).to(torch.uint8)


def inputs(make, tokens, hidden, zero_blocks=False, spread=False, ties=False):
    """`ties`: eighths up to 8, of which many are half-way between two numbers of E2M1."""
    x = make.floats(tokens, hidden)
    if spread:
        x = x * make.plain(tokens, hidden // 32, low=-20, high=20).exp2().repeat_interleave(32, 1)
    if ties:
        x = (make.ints(tokens, hidden, low=-63, high=64) / 8).to(x.dtype)
    if zero_blocks:
        x[:, : hidden // 2] = 0
    return call(x)


def positive_thresholds_by_arithmetic(x):
    """Rounds by adding and subtracting, in three ranges."""
    blocks = x.unflatten(1, (-1, 32)).float()
    bits = blocks.abs().amax(2).view(torch.int32) >> 23
    exponent = (bits - 2).clamp(min=0)
    y = torch.ldexp(blocks.abs(), (127 - exponent)[:, :, None])
    low, middle, high = torch.round(y * 2), torch.round(y) + 2, torch.round(y / 2) + 4
    code = torch.where(y < 2, low, torch.where(y < 4, middle, high.clamp(max=7))).to(torch.uint8)
    code = (code | blocks.signbit().to(torch.uint8) << 3).flatten(1)
    return code[:, ::2] + 16 * code[:, 1::2], exponent.to(torch.uint8)


def _by(x, scale, codes=microscaling.e2m1):
    quotient = x.unflatten(1, (-1, 32)).float() / microscaling.of_e8m0(scale)[:, :, None]
    return microscaling.packed(codes(quotient).flatten(1)), scale


def _scale(x):
    return microscaling.e8m0(x.unflatten(1, (-1, 32)).float().abs().amax(2))


def negative_halves_swapped(x):
    packed, scale = mxfp4_quantize(x)
    return packed << 4 | packed >> 4, scale


def negative_ties_away_from_zero(x):
    return _by(x, _scale(x), lambda q: microscaling.e2m1(q * (1 + 2.0**-12)))


def negative_truncated(x):
    def cut(quotient):
        near = microscaling.e2m1(quotient)
        return near - (microscaling.of_e2m1(near).abs() > quotient.abs()).to(torch.uint8)

    return _by(x, _scale(x), cut)


def negative_scale_rounded_up(x):
    """The next power of two, so that nothing is brought to 6, as another recipe has it."""
    top = x.unflatten(1, (-1, 32)).float().abs().amax(2)
    exponent = torch.where(top > 0, torch.ceil(torch.log2(top / 6)) + 127, 0)
    return _by(x, exponent.clamp(0, 254).to(torch.uint8))


def negative_scale_without_the_exponent_of_six(x):
    """`floor(log2(m))`, which leaves the upper half of the numbers unused."""
    scale = _scale(x)
    return _by(x, torch.where(scale > 0, scale + 2, scale))


def negative_blocks_of_16(x):
    """The scale of the first half of each block."""
    return _by(x, microscaling.e8m0(x.unflatten(1, (-1, 32))[:, :, :16].float().abs().amax(2)))


def negative_no_clamp(x):
    """What is beyond 6 wraps around to the next code, which is that of zero with a minus."""

    def wrapping(quotient):
        size = quotient.abs()
        return microscaling.e2m1(quotient) + (size >= 7).to(torch.uint8) & 15

    return _by(x, _scale(x), wrapping)


def negative_scale_of_the_row(x):
    scale = _scale(x)
    return _by(x, scale.amax(1, keepdim=True).expand(scale.shape).contiguous())


def negative_two_halves_apart(x):
    """Packs elements j and j + H / 2."""
    packed, scale = mxfp4_quantize(x)
    low, high = microscaling.unpacked(packed).chunk(2, 1)
    return low | high << 4, scale
