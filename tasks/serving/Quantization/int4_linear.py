"""Linear layer with 4-bit integer weights and bfloat16 activations: a scale and a zero point for each group, as AWQ and GPTQ publish.

`int4_linear(x, weight, scale, zero, group_size=128)` is the bfloat16 `(M, N)` tensor `out[m, n] = sum over k of x[m, k] · w[n, k]` with
`w[n, k] = (q[n, k] − z[n, k // group_size]) · scale[n, k // group_size]`.

- `x` is bfloat16 `(M, K)`; `group_size` is 32, 64 or 128, and `K` a multiple of it.
- `weight` is uint8 `(N, K / 2)`: byte `j` of a row holds `q` of `k = 2j` in its low half and that of `k = 2j + 1` in its high half, numbers from
  0 to 15.
- `scale` is bfloat16 `(N, K / group_size)`.
- `zero` is uint8 `(N, ceil(K / group_size / 2))`: byte `j` of a row holds `z` of group `2j` in its low half and that of group `2j + 1` in its
  high half, numbers from 0 to 15. The high half of a last byte without a second group means nothing.
- Sums are float32, rounded to bfloat16 once, at the end. `w` may be rounded to bfloat16 before it is multiplied, or the scale be applied to the
  sum of a group.

All are contiguous, `M, N ≥ 1`; the result is new and contiguous.

Sizes: projections of Llama 3.1 8B (28672 × 4096 of gate and up, 4096 × 14336 of down), Llama 3.1 70B (8192 × 8192, 10240 × 8192 of QKV) and
Qwen2.5-7B (37888 × 3584), after their model cards, at batches of 1, 16 and 64 tokens and a prefill, groups of 128 as in the published AWQ
checkpoints. Weights are in proportion to the bytes or the flops, whatever takes an H200 longer, decode being 40 calls a prefill.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "bfloat16"
TAGS = ("matmul", "int4", "tensor-core", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "wide", "zeros")

CASES = [
    dict(m=37, n=45, k=64, group_size=32),
    dict(m=1, n=131, k=256),
    dict(m=5, n=33, k=1056, group_size=32),
    dict(m=19, n=64, k=192, group_size=64),
    dict(m=130, n=20, k=128),
    dict(m=3, n=300, k=320, group_size=64),
    dict(m=1, n=1, k=32, group_size=32),
    dict(m=16, n=67, k=384, spread=True),
    dict(m=67, n=130, k=128, group_size=64),
]

SIZES = [
    dict(m=1, n=28672, k=4096),
    dict(m=16, n=4096, k=14336),
    dict(m=1, n=8192, k=8192),
    dict(m=16, n=10240, k=8192),
    dict(m=64, n=37888, k=3584),
    dict(m=2048, n=28672, k=4096),
]
WEIGHTS = [14, 7, 8, 10, 16, 15]

CONTRACT = Close(strides="contiguous")


def _unpacked(byte):
    return torch.stack([byte & 15, byte >> 4], 2).flatten(1)


def _levels(weight, scale, zero):
    """Whole numbers from -15 to 15, in float32."""
    group = 2 * weight.shape[1] // scale.shape[1]
    zeros = _unpacked(zero)[:, : scale.shape[1]].float().repeat_interleave(group, 1)
    return _unpacked(weight).float() - zeros


def int4_linear(x, weight, scale, zero, group_size: int = 128):
    wide = torch.promote_types(x.dtype, torch.float32)
    w = _levels(weight, scale, zero).to(wide) * scale.to(wide).repeat_interleave(group_size, 1)
    return x @ w.to(x.dtype).T


def inputs(make, m, n, k, group_size=128, spread=False):
    """`spread`: scales of very different size."""
    groups, power = k // group_size, 8.0 if spread else 1.0
    weight = make.ints(n, k // 2, low=0, high=256, dtype=torch.uint8)
    scale = 0.01 * make.plain(n, groups, low=-power, high=power).exp2()
    zero = make.ints(n, (groups + 1) // 2, low=0, high=256, dtype=torch.uint8)
    return call(make.floats(m, k), weight, scale, zero, group_size=group_size)


def positive_groups_scaled_afterwards(x, weight, scale, zero, group_size=128):
    """Sums of a group's products with whole numbers, scaled as they are added up."""
    acc = torch.zeros(x.shape[0], weight.shape[0], device=x.device)
    parts = zip(x.float().split(group_size, 1), _levels(weight, scale, zero).split(group_size, 1), strict=True)
    for j, (a, b) in enumerate(parts):
        acc += a @ b.T * scale[:, j].float()
    return acc.to(x.dtype)


def positive_float32_weights(x, weight, scale, zero, group_size=128):
    w = _levels(weight, scale, zero) * scale.float().repeat_interleave(group_size, 1)
    parts = zip(x.float().tensor_split(4, 1), w.tensor_split(4, 1), strict=True)
    return sum(a @ b.T for a, b in parts).to(x.dtype)


def positive_zero_points_by_sums_of_activations(x, weight, scale, zero, group_size=128):
    """Takes the zero point times the sum of the activations off a group's sum."""
    codes, zeros = _unpacked(weight).float().split(group_size, 1), _unpacked(zero).float()
    acc = torch.zeros(x.shape[0], weight.shape[0], device=x.device)
    for j, (a, b) in enumerate(zip(x.float().split(group_size, 1), codes, strict=True)):
        acc += (a @ b.T - a.sum(1, keepdim=True) * zeros[:, j]) * scale[:, j].float()
    return acc.to(x.dtype)


def _with(x, w):
    return (x.float() @ w.T).to(x.dtype)


def negative_halves_swapped(x, weight, scale, zero, group_size=128):
    return int4_linear(x, weight << 4 | weight >> 4, scale, zero, group_size)


def negative_zero_halves_swapped(x, weight, scale, zero, group_size=128):
    return int4_linear(x, weight, scale, zero << 4 | zero >> 4, group_size)


def negative_no_zero_point(x, weight, scale, zero, group_size=128):
    return int4_linear(x, weight, scale, torch.zeros_like(zero), group_size)


def negative_zero_point_8(x, weight, scale, zero, group_size=128):
    """Takes the weights for symmetric ones."""
    return int4_linear(x, weight, scale, torch.full_like(zero, 0x88), group_size)


def negative_zero_point_plus_one(x, weight, scale, zero, group_size=128):
    """The older form of GPTQ, which stores one less."""
    w = (_levels(weight, scale, zero) - 1) * scale.float().repeat_interleave(group_size, 1)
    return _with(x, w)


def negative_groups_off_by_one(x, weight, scale, zero, group_size=128):
    return int4_linear(x, weight, scale.roll(1, 1), zero, group_size)


def negative_scale_of_the_first_group(x, weight, scale, zero, group_size=128):
    return int4_linear(x, weight, scale[:, :1].expand_as(scale), zero, group_size)


def negative_groups_of_128(x, weight, scale, zero, group_size=128):
    """Whatever `group_size` is."""
    column = (torch.arange(x.shape[1], device=x.device) // 128).clamp(max=scale.shape[1] - 1)
    zeros = _unpacked(zero)[:, : scale.shape[1]].float()[:, column]
    return _with(x, (_unpacked(weight).float() - zeros) * scale.float()[:, column])


def negative_zero_point_after_scaling(x, weight, scale, zero, group_size=128):
    """`q · scale − z`."""
    zeros = _unpacked(zero)[:, : scale.shape[1]].float().repeat_interleave(group_size, 1)
    return _with(x, _unpacked(weight).float() * scale.float().repeat_interleave(group_size, 1) - zeros)


def negative_sums_in_bfloat16(x, weight, scale, zero, group_size=128):
    w = _levels(weight, scale, zero) * scale.float().repeat_interleave(group_size, 1)
    acc = torch.zeros(x.shape[0], weight.shape[0], device=x.device)
    for a, b in zip(x.float().split(16, 1), w.split(16, 1), strict=True):
        acc = (acc + a @ b.T).bfloat16().float()
    return acc.to(x.dtype)


def negative_activations_in_float8(x, weight, scale, zero, group_size=128):
    w = _levels(weight, scale, zero) * scale.float().repeat_interleave(group_size, 1)
    return _with(x.clamp(-448, 448).to(torch.float8_e4m3fn), w).bfloat16()
