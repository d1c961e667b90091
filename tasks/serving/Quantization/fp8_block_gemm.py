"""Product of 8-bit floats with scales for blocks, the linear layer of DeepSeek-V3.

`fp8_block_gemm(a, a_scale, b, b_scale)` is the bfloat16 `(M, N)` tensor

    out[m, n] = sum over k of a[m, k] · a_scale[m, k // 128] · b[n, k] · b_scale[n // 128, k // 128].

- `a` is float8 e4m3 (`torch.float8_e4m3fn`) `(M, K)`, activations with a float32 scale `a_scale` `(M, ceil(K / 128))` for each 128 elements of a row.
- `b` is float8 e4m3 `(N, K)`, weights with a float32 scale `b_scale` `(ceil(N / 128), ceil(K / 128))` for each block of 128 × 128.
- Sums are float32, rounded to bfloat16 once, at the end. Scales differ from block to block by factors of a thousand, so a sum over several of them
  cannot be scaled afterwards. 8-bit tensor cores that add up fewer than 32 bits may be used within a block of 128.

All are contiguous, `M, N, K ≥ 1`; the result is new and contiguous.

Sizes: projections of DeepSeek-V3 (hidden size 7168, experts 2048, queries 1536 → 24576, dense layers 18432) at decode batches of 64 and 128
tokens and prefills of 4,096, after its model card and technical report. Weights are in proportion to the time of a call at the fp8 peak or the
bandwidth of an H200, decode being 40 calls a prefill.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float8_e4m3fn"
PRODUCTS = "fp8"
TAGS = ("matmul", "fp8", "tensor-core", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "wide", "zeros")

CASES = [
    dict(m=37, n=128, k=256),
    dict(m=1, n=45, k=384),
    dict(m=19, n=131, k=300),
    dict(m=64, n=260, k=128),
    dict(m=5, n=33, k=1030),
    dict(m=130, n=20, k=64),
    dict(m=3, n=300, k=129),
    dict(m=1, n=1, k=1),
    dict(m=16, n=64, k=640, spread=True),
]

SIZES = [
    dict(m=64, n=2048, k=7168),
    dict(m=64, n=7168, k=2048),
    dict(m=128, n=24576, k=1536),
    dict(m=128, n=7168, k=18432),
    dict(m=4096, n=7168, k=2048),
    dict(m=4096, n=24576, k=1536),
]
WEIGHTS = [1.5, 1.5, 3.5, 12, 1, 2.5]


SHORT_SUMS = 4
"""8-bit tensor cores of Hopper keep about 14 bits of a sum (technical report of DeepSeek-V3, section 3.3.2): on an H200 one element of 50,000
is up to 1.3 times as far off as sums of float32 would be allowed to be."""


def _norms(a, a_scale, b, b_scale):
    """Of the products that are added up, which rounding errors are relative to, for such sums."""
    left, right = _scaled(a, a_scale, b, b_scale)
    return SHORT_SUMS * (left.double().square() @ right.double().square().T).sqrt()


CONTRACT = Close(scale=_norms, strides="contiguous")


def _scaled(a, a_scale, b, b_scale):
    """Both operands times their scales, in the scales' dtype."""
    left = a.to(a_scale.dtype) * a_scale.repeat_interleave(128, 1)[:, : a.shape[1]]
    expanded = b_scale.repeat_interleave(128, 0)[: b.shape[0]].repeat_interleave(128, 1)[:, : b.shape[1]]
    return left, b.to(b_scale.dtype) * expanded


def fp8_block_gemm(a, a_scale, b, b_scale):
    left, right = _scaled(a, a_scale, b, b_scale)
    out = left @ right.T
    return out if out.dtype == torch.float64 else out.bfloat16()


def inputs(make, m, n, k, spread=False):
    """Scales as of activations and weights; `spread`: of very different size."""
    groups, power = (k + 127) // 128, 5.0 if spread else 2.0
    a, b = make.floats(m, k, dtype=torch.float32), make.plain(n, k, dtype=torch.float32)
    a, b = ((64 * t).clamp(-448, 448).to(torch.float8_e4m3fn) for t in (a, b))
    a_scale = 2**-6 * make.plain(m, groups, dtype=torch.float32, low=-power, high=power).exp2()
    b_scale = 2**-9 * make.plain((n + 127) // 128, groups, dtype=torch.float32, low=-power, high=power).exp2()
    return call(a, a_scale, b, b_scale)


def positive_block_by_block(a, a_scale, b, b_scale):
    """Sums of unscaled products, scaled as they are added up."""
    acc = torch.zeros(a.shape[0], b.shape[0], device=a.device)
    for j in range(a_scale.shape[1]):
        columns = slice(128 * j, 128 * j + 128)
        rows = b_scale[:, j].repeat_interleave(128)[: b.shape[0]]
        acc += (a[:, columns].float() @ b[:, columns].float().T) * a_scale[:, j : j + 1] * rows
    return acc.bfloat16()


def _with(a, a_scale, b, b_scale):
    left, right = _scaled(a, a_scale, b, b_scale)
    return (left @ right.T).bfloat16()


def negative_scale_of_the_first_block(a, a_scale, b, b_scale):
    """One scale a row and a column, applied at the end."""
    return _with(a, a_scale[:, :1].expand_as(a_scale), b, b_scale[:, :1].expand_as(b_scale))


def negative_no_weight_scale(a, a_scale, b, b_scale):
    return _with(a, a_scale, b, torch.ones_like(b_scale))


def negative_weight_scale_per_row_block_only(a, a_scale, b, b_scale):
    """The scale of the first 128 rows of `b` for all of them."""
    return _with(a, a_scale, b, b_scale[:1].expand_as(b_scale))


def negative_scales_off_by_one_block(a, a_scale, b, b_scale):
    return _with(a, a_scale.roll(1, 1), b, b_scale)


def negative_sums_in_bfloat16(a, a_scale, b, b_scale):
    """Rounds the running sum after each block."""
    acc = torch.zeros(a.shape[0], b.shape[0], dtype=torch.bfloat16, device=a.device)
    left, right = _scaled(a, a_scale, b, b_scale)
    for x, y in zip(left.split(64, 1), right.split(64, 1), strict=True):
        acc = (acc.float() + x @ y.T).bfloat16()
    return acc


def negative_operands_rounded_to_fp8(a, a_scale, b, b_scale):
    """Scales first and rounds to 8 bits again."""
    left, right = (t.clamp(-448, 448).to(torch.float8_e4m3fn).float() for t in _scaled(a, a_scale, b, b_scale))
    return (left @ right.T).bfloat16()


def negative_scaled_operands_in_bfloat16(a, a_scale, b, b_scale):
    """Scales the operands in bfloat16, which loses bits that float8 products have."""
    left, right = (t.bfloat16().float() for t in _scaled(a, a_scale, b, b_scale))
    return (left @ right.T).bfloat16()


def negative_last_block_left_out(a, a_scale, b, b_scale):
    """Goes over whole blocks of `k` only."""
    whole = a.shape[1] // 128 * 128
    return _with(a[:, :whole], a_scale[:, : whole // 128], b[:, :whole], b_scale[:, : whole // 128])
