"""Convolution as a matrix product: F.unfold lays the patches out, one batched kernel multiplies, adds the bias and stores.

style: unfolded
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def gemm_bias_kernel(
    w_ptr, p_ptr, bias_ptr, out_ptr, M, N, K, groups,
    BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """out[z] = w[z % groups] @ p[z] + bias: (M, K) by (K, N) for each image and group z."""
    z = tl.program_id(1).to(tl.int64)
    tiles_n = tl.cdiv(N, BN)
    m = tl.program_id(0) // tiles_n * BM + tl.arange(0, BM)
    n = tl.program_id(0) % tiles_n * BN + tl.arange(0, BN)
    w_ptr += z % groups * M * K
    p_ptr += z * K * N
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        w = tl.load(w_ptr + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        p = tl.load(p_ptr + k[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
        acc = tl.dot(w, p, acc, input_precision="ieee")
    if BIAS:
        acc += tl.load(bias_ptr + z % groups * M + m, mask=m < M, other=0.0)[:, None]
    tl.store(out_ptr + z * M * N + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


def both(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    stride, padding, dilation = both(stride), both(padding), both(dilation)
    size = tuple(
        (input.shape[2 + d] + 2 * padding[d] - dilation[d] * (weight.shape[2 + d] - 1) - 1) // stride[d] + 1
        for d in range(2)
    )
    out = torch.empty((input.shape[0], weight.shape[0], *size), dtype=input.dtype, device=input.device)
    if out.numel():
        patches = F.unfold(input, weight.shape[2:], dilation=dilation, padding=padding, stride=stride)
        M, N, K = weight.shape[0] // groups, size[0] * size[1], weight[0].numel()
        grid = (triton.cdiv(M, 32) * triton.cdiv(N, 32), input.shape[0] * groups)
        gemm_bias_kernel[grid](
            weight.contiguous(), patches.contiguous(), bias, out, M, N, K, groups,
            BIAS=bias is not None, BM=32, BN=32, BK=32,
        )  # fmt: skip
    return out
