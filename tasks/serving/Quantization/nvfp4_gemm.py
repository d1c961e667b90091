"""Product of two NVFP4 matrices: four-bit floats with an 8-bit scale for each 16 of them, and one float32 factor.

`nvfp4_gemm(a, a_scale, b, b_scale, alpha)` is the bfloat16 `(M, N)` tensor `out[m, n] = alpha · sum over k of A[m, k] · B[n, k]`.

- `a` is uint8 `(M, K / 2)`, `K` a multiple of 16: byte `j` of a row holds the code of `k = 2j` in its low half and that of `k = 2j + 1` in its high
  half. Codes 0 to 7 stand for 0, 0.5, 1, 1.5, 2, 3, 4 and 6, codes 8 to 15 for their negatives (E2M1). `b` is uint8 `(N, K / 2)`, likewise.
- `a_scale` is float8 e4m3 (`torch.float8_e4m3fn`) `(M, K / 16)`: `A[m, k]` is the number of its code times `a_scale[m, k // 16]`; `b_scale` is
  `(N, K / 16)`, likewise. Such a product has six significant bits, so bfloat16 and float16 hold it exactly.
- `alpha` is a float32 tensor `(1,)`, the reciprocal of both tensors' scales.
- Products are exact, sums float32, rounded to bfloat16 once, at the end.

All are contiguous, `M, N ≥ 1`; the result is new and contiguous. No GPU need have arithmetic of four bits.

Sizes: projections of DeepSeek-R1 (experts 7168 × 2048 and back, queries 1536 → 24576) and of Llama 3.1 8B (28672 × 4096 of gate and up, 4096 ×
14336) and 405B (16384 × 16384), after their model cards, which NVIDIA publishes in this format. Weights are in proportion to the bytes or the
flops, whatever takes an H200 longer, decode being 40 calls a prefill.
"""

import torch

from kbx.suite import Close, call, microscaling

DIFFICULTY = 4
DTYPE = "float32"
PRODUCTS = "fp4"
TAGS = ("matmul", "fp4", "nvfp4", "tensor-core", "inference")

CASES = [
    dict(m=37, n=45, k=64),
    dict(m=1, n=131, k=256),
    dict(m=5, n=33, k=1040),
    dict(m=19, n=64, k=112),
    dict(m=130, n=20, k=16),
    dict(m=3, n=300, k=160),
    dict(m=1, n=1, k=16),
    dict(m=16, n=67, k=480, spread=True),
    dict(m=67, n=130, k=128),
]

SIZES = [
    dict(m=64, n=2048, k=7168),
    dict(m=64, n=7168, k=2048),
    dict(m=128, n=24576, k=1536),
    dict(m=16, n=16384, k=16384),
    dict(m=1024, n=4096, k=14336),
    dict(m=2048, n=28672, k=4096),
]
WEIGHTS = [1, 1, 3, 20, 5, 13]

CONTRACT = Close(strides="contiguous")


def _numbers(packed, dtype):
    """What codes of four bits stand for, two in a byte."""
    halves = torch.tensor([0, 1, 2, 3, 4, 6, 8, 12], dtype=dtype, device=packed.device) / 2
    return torch.cat([halves, -halves])[torch.stack([packed & 15, packed >> 4], -1).flatten(-2).long()]


def _operand(packed, scale, dtype):
    return _numbers(packed, dtype) * scale.to(dtype).repeat_interleave(16, 1)


def nvfp4_gemm(a, a_scale, b, b_scale, alpha):
    out = alpha * (_operand(a, a_scale, alpha.dtype) @ _operand(b, b_scale, alpha.dtype).T)
    return out if out.dtype == torch.float64 else out.bfloat16()


def inputs(make, m, n, k, spread=False):
    """`spread`: scales over the whole range of the format."""
    low = -6 if spread else 3

    def operand(rows):
        scale = make.plain(rows, k // 16, low=low, high=8.5).exp2().to(torch.float8_e4m3fn)
        return make.ints(rows, k // 2, low=0, high=256, dtype=torch.uint8), scale

    return call(*operand(m), *operand(n), make.plain(1, low=1e-6, high=1e-5))


def positive_blocks_scaled_afterwards(a, a_scale, b, b_scale, alpha):
    """Sums of 16 unscaled products, scaled as they are added up."""
    left, right = (microscaling.of_e2m1(microscaling.unpacked(t)).split(16, 1) for t in (a, b))
    acc = torch.zeros(a.shape[0], b.shape[0], device=a.device)
    for j, (x, y) in enumerate(zip(left, right, strict=True)):
        acc += x @ y.T * a_scale[:, j : j + 1].float() * b_scale[:, j].float()
    return (acc * alpha).bfloat16()


def positive_bfloat16_operands(a, a_scale, b, b_scale, alpha):
    """Operands in bfloat16, which is exact, `alpha` on one of them, and four partial sums."""
    left, right = (_operand(t, s.float(), torch.bfloat16).float() for t, s in ((a, a_scale), (b, b_scale)))
    parts = zip((alpha * left).tensor_split(4, 1), right.tensor_split(4, 1), strict=True)
    return sum(x @ y.T for x, y in parts).bfloat16()


def negative_halves_swapped(a, a_scale, b, b_scale, alpha):
    """In one operand: in both it would be another order of the same sum."""
    return nvfp4_gemm(a << 4 | a >> 4, a_scale, b, b_scale, alpha)


def negative_no_alpha(a, a_scale, b, b_scale, alpha):
    return nvfp4_gemm(a, a_scale, b, b_scale, torch.ones_like(alpha))


def negative_no_weight_scale(a, a_scale, b, b_scale, alpha):
    return nvfp4_gemm(a, a_scale, b, torch.ones_like(b_scale), alpha)


def negative_scales_off_by_one_block(a, a_scale, b, b_scale, alpha):
    rolled = b_scale.view(torch.uint8).roll(1, 1).view(torch.float8_e4m3fn)
    return nvfp4_gemm(a, a_scale, b, rolled, alpha)


def negative_blocks_of_32(a, a_scale, b, b_scale, alpha):
    """The scale of every other block for two of them."""
    kept = (torch.arange(b_scale.shape[1], device=b.device) // 2) * 2
    return nvfp4_gemm(a, a_scale, b, b_scale.view(torch.uint8)[:, kept].view(torch.float8_e4m3fn), alpha)


def negative_scales_as_powers_of_two(a, a_scale, b, b_scale, alpha):
    """Takes the scales' bits for E8M0."""
    left = _operand(a, microscaling.of_e8m0(a_scale.view(torch.uint8)), torch.float32)
    return (alpha * (left @ _operand(b, b_scale, torch.float32).T)).bfloat16()


def negative_two_complement(a, a_scale, b, b_scale, alpha):
    """Takes the codes of one operand for int4."""
    codes = microscaling.unpacked(b).to(torch.int32)
    right = ((codes ^ 8) - 8).float() * b_scale.float().repeat_interleave(16, 1)
    return (alpha * (_operand(a, a_scale, torch.float32) @ right.T)).bfloat16()


def negative_operands_in_float8(a, a_scale, b, b_scale, alpha):
    """Numbers times scales rounded to 8 bits."""
    left, right = (
        _operand(t, s, torch.float32).clamp(-448, 448).to(torch.float8_e4m3fn).float()
        for t, s in ((a, a_scale), (b, b_scale))
    )
    return (alpha * (left @ right.T)).bfloat16()


def negative_sums_in_bfloat16(a, a_scale, b, b_scale, alpha):
    left, right = _operand(a, a_scale, torch.float32), _operand(b, b_scale, torch.float32)
    acc = torch.zeros(a.shape[0], b.shape[0], device=a.device)
    for x, y in zip(left.split(32, 1), right.split(32, 1), strict=True):
        acc = (acc + x @ y.T).bfloat16().float()
    return (acc * alpha).bfloat16()
