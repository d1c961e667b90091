"""Linear layer with MXFP4 weights and bfloat16 activations, as the experts of gpt-oss are published.

`mxfp4_linear(x, weight, scale, bias)` is the bfloat16 `(M, N)` tensor `out[m, n] = bias[n] + sum over k of x[m, k] · w[n, k]`.

- `x` is bfloat16 `(M, K)`, `K` a multiple of 32; `bias` is bfloat16 `(N,)`.
- `weight` is uint8 `(N, K / 2)`: byte `j` of a row holds the code of `k = 2j` in its low half and that of `k = 2j + 1` in its high half. Codes 0 to 7
  stand for 0, 0.5, 1, 1.5, 2, 3, 4 and 6, codes 8 to 15 for their negatives (E2M1).
- `scale` is uint8 `(N, K / 32)`: `w[n, k]` is the number of its code times `2^(scale[n, k // 32] − 127)` (E8M0), which bfloat16 holds exactly.
  Scales are between 100 and 140.
- Sums are float32; result and bias are rounded to bfloat16 once, together.

All are contiguous, `M, N ≥ 1`; the result is new and contiguous.

Sizes: experts of gpt-oss-20b and gpt-oss-120b (hidden size 2880; 5760 rows of gate and up, 2880 of down), after their model card, for the tokens
of an expert in a decode batch and a prefill; and projections of Llama 3.1 8B and 70B in this format. Weights are in proportion to the bytes of
the matrix or the flops, whatever takes an H200 longer, decode being 40 calls a prefill.
"""

import torch

from kbx.suite import Close, call, microscaling

DIFFICULTY = 4
DTYPE = "bfloat16"
TAGS = ("matmul", "fp4", "mx", "tensor-core", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "wide", "zeros")

CASES = [
    dict(m=37, n=45, k=64),
    dict(m=1, n=131, k=256),
    dict(m=5, n=33, k=1056),
    dict(m=19, n=64, k=96),
    dict(m=130, n=20, k=32),
    dict(m=3, n=300, k=160),
    dict(m=1, n=1, k=32),
    dict(m=16, n=67, k=480, spread=True),
    dict(m=67, n=130, k=128),
]

SIZES = [
    dict(m=16, n=5760, k=2880),
    dict(m=16, n=2880, k=2880),
    dict(m=64, n=28672, k=4096),
    dict(m=1, n=8192, k=8192),
    dict(m=512, n=5760, k=2880),
    dict(m=4096, n=14336, k=4096),
]
WEIGHTS = [2, 1, 14, 8, 1, 15]

CONTRACT = Close(strides="contiguous")


def _numbers(packed, dtype):
    """What codes of four bits stand for, two in a byte."""
    halves = torch.tensor([0, 1, 2, 3, 4, 6, 8, 12], dtype=dtype, device=packed.device) / 2
    return torch.cat([halves, -halves])[torch.stack([packed & 15, packed >> 4], -1).flatten(-2).long()]


def _weight(weight, scale, dtype):
    powers = torch.exp2(scale.double() - 127).to(dtype)
    return _numbers(weight, dtype) * powers.repeat_interleave(32, 1)


def mxfp4_linear(x, weight, scale, bias):
    return torch.nn.functional.linear(x, _weight(weight, scale, x.dtype), bias)


def inputs(make, m, n, k, spread=False):
    """`spread`: scales of very different size."""
    power = 12 if spread else 3
    weight = make.ints(n, k // 2, low=0, high=256, dtype=torch.uint8)
    scale = make.ints(n, k // 32, low=120 - power, high=121 + power, dtype=torch.uint8)
    return call(make.floats(m, k), weight, scale, make.plain(n))


def positive_blocks_scaled_afterwards(x, weight, scale, bias):
    """Sums of 32 unscaled products, scaled as they are added up."""
    numbers = microscaling.of_e2m1(microscaling.unpacked(weight)).split(32, 1)
    acc = bias.float().expand(x.shape[0], -1).clone()
    for j, (a, b) in enumerate(zip(x.float().split(32, 1), numbers, strict=True)):
        acc += a @ b.T * microscaling.of_e8m0(scale[:, j])
    return acc.to(x.dtype)


def positive_bfloat16_weights(x, weight, scale, bias):
    """Weights in bfloat16, which is exact, and four partial sums."""
    w = _weight(weight, scale, torch.bfloat16).float()
    parts = zip(x.float().tensor_split(4, 1), w.tensor_split(4, 1), strict=True)
    return (sum(a @ b.T for a, b in parts) + bias.float()).to(x.dtype)


def _with(x, w, bias):
    return (x.float() @ w.T + bias.float()).to(x.dtype)


def negative_halves_swapped(x, weight, scale, bias):
    return mxfp4_linear(x, weight << 4 | weight >> 4, scale, bias)


def negative_two_halves_apart(x, weight, scale, bias):
    """Takes the low halves for the first half of the row."""
    codes = torch.cat([weight & 15, weight >> 4], 1)
    w = microscaling.of_e2m1(codes) * microscaling.of_e8m0(scale).repeat_interleave(32, 1)
    return _with(x, w, bias)


def negative_two_complement(x, weight, scale, bias):
    """Takes codes for int4."""
    codes = microscaling.unpacked(weight).to(torch.int32)
    return _with(x, ((codes ^ 8) - 8).float() * microscaling.of_e8m0(scale).repeat_interleave(32, 1), bias)


def negative_bias_of_the_exponent_128(x, weight, scale, bias):
    return _with(x, _weight(weight, scale, torch.float32) / 2, bias)


def negative_scales_off_by_one_block(x, weight, scale, bias):
    return mxfp4_linear(x, weight, scale.roll(1, 1), bias)


def negative_blocks_of_16(x, weight, scale, bias):
    """Goes on to the next scale after 16 elements."""
    numbers = microscaling.of_e2m1(microscaling.unpacked(weight))
    scales = microscaling.of_e8m0(scale).repeat_interleave(16, 1)
    return _with(x, numbers * torch.cat([scales, scales], 1), bias)


def negative_no_bias(x, weight, scale, bias):
    return mxfp4_linear(x, weight, scale, torch.zeros_like(bias))


def negative_half_of_smallest_lost(x, weight, scale, bias):
    """Takes 0.5, the subnormal number, for 0."""
    numbers = microscaling.of_e2m1(microscaling.unpacked(weight))
    numbers = numbers.masked_fill(numbers.abs() == 0.5, 0)
    return _with(x, numbers * microscaling.of_e8m0(scale).repeat_interleave(32, 1), bias)


def negative_sums_in_bfloat16(x, weight, scale, bias):
    acc = bias.float().expand(x.shape[0], -1)
    w = _weight(weight, scale, torch.float32)
    for a, b in zip(x.float().split(32, 1), w.split(32, 1), strict=True):
        acc = (acc + a @ b.T).bfloat16().float()
    return acc.to(x.dtype)


def negative_activations_in_float8(x, weight, scale, bias):
    return _with(x.clamp(-448, 448).to(torch.float8_e4m3fn), _weight(weight, scale, torch.float32), bias).bfloat16()
