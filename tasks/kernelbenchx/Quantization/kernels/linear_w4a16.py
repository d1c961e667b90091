"""W4A16 linear layer: one kernel packs weights to 4 bits, two in a byte; the product kernel unpacks them on the fly.

Byte j of a group of 64 weights holds weight j in its low half and weight j + 32 in its high half, so that both halves
meet contiguous activations. Levels are exact in float16; the scale of an output channel multiplies the finished sum.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def levels(w_ptr, k, valid, w_k, scale):
    """Levels -7 to 7 of a tile of weights, as integers; 0 outside."""
    w = tl.load(w_ptr + k.to(tl.int64)[None, :] * w_k, mask=valid, other=0.0).to(tl.float32)
    q = libdevice.rint(tl.div_rn(w, tl.broadcast_to(scale[:, None], w.shape)))
    return tl.minimum(tl.maximum(q, -7.0), 7.0).to(tl.int32)


@triton.jit(do_not_specialize=["N"])
def pack_kernel(w_ptr, packed_ptr, scale_ptr, N, K, w_n, w_k, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Scales of `ROWS` output channels, then their levels; `BLOCK` weights at a time, a multiple of 64."""
    n = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    source = w_ptr + n[:, None] * w_n
    top = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = (start + tl.arange(0, BLOCK)).to(tl.int64)
        w = tl.load(source + k[None, :] * w_k, mask=(n < N)[:, None] & (k < K)[None, :], other=0.0)
        top = tl.maximum(top, tl.abs(w.to(tl.float32)))
    scale = tl.div_rn(tl.max(top, 1), tl.full((ROWS,), 7.0, tl.float32))
    scale = tl.where(scale > 0, scale, 1.0)
    tl.store(scale_ptr + n, scale, mask=n < N)
    width = tl.cdiv(K, 64) * 32
    for start in range(0, width, BLOCK // 2):
        byte = start + tl.arange(0, BLOCK // 2)
        low = byte // 32 * 64 + byte % 32
        high = low + 32
        q_low = levels(source, low, (n < N)[:, None] & (low < K)[None, :], w_k, scale)
        q_high = levels(source, high, (n < N)[:, None] & (high < K)[None, :], w_k, scale)
        packed = (q_low & 15) | ((q_high & 15) << 4)
        target = packed_ptr + n[:, None] * width + byte[None, :]
        tl.store(target, packed.to(tl.uint8), mask=(n < N)[:, None] & (byte < width)[None, :])


@triton.jit(do_not_specialize=["M"])
def linear_kernel(
    x_ptr, packed_ptr, scale_ptr, bias_ptr, out_ptr, M, N, K, x_m, x_k, bias_n,
    BIAS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    m = (tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    n = (tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    byte = tl.arange(0, 32)
    width = tl.cdiv(K, 64) * 32
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for group in range(tl.cdiv(K, 64)):
        packed = tl.load(packed_ptr + n[None, :] * width + (group * 32 + byte)[:, None], mask=(n < N)[None, :], other=0)
        packed = packed.to(tl.int32)
        # Four bits in two's complement: flipping the top one and subtracting 8 extends the sign.
        q_low, q_high = ((packed & 15) ^ 8) - 8, ((packed >> 4) ^ 8) - 8
        k = (group * 64 + byte).to(tl.int64)
        x = x_ptr + m[:, None] * x_m + k[None, :] * x_k
        x_low = tl.load(x, mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        x_high = tl.load(x + 32 * x_k, mask=(m < M)[:, None] & (k + 32 < K)[None, :], other=0.0)
        acc = tl.dot(x_low, q_low.to(tl.float16), acc)
        acc = tl.dot(x_high, q_high.to(tl.float16), acc)
    out = acc * tl.load(scale_ptr + n, mask=n < N, other=0.0)[None, :]
    if BIAS:
        out += tl.load(bias_ptr + n * bias_n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    tl.store(out_ptr + m[:, None] * N + n[None, :], out.to(tl.float16), mask=(m < M)[:, None] & (n < N)[None, :])


def linear_w4a16(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor = None) -> torch.Tensor:
    N, K = weight.shape
    x = input.reshape(-1, K)
    M = x.shape[0]
    out = torch.empty((M, N), dtype=torch.float16, device=input.device)
    if out.numel():
        packed = torch.empty((N, triton.cdiv(K, 64) * 32), dtype=torch.uint8, device=input.device)
        scale = torch.empty(N, dtype=torch.float32, device=input.device)
        pack_kernel[(triton.cdiv(N, 8),)](weight, packed, scale, N, K, *weight.stride(), ROWS=8, BLOCK=256)
        block_m = 16 if M <= 16 else 64
        block_n = 64 if M <= 64 else 128
        linear_kernel[(triton.cdiv(N, block_n), triton.cdiv(M, block_m))](
            x, packed, scale, bias, out, M, N, K, *x.stride(), 0 if bias is None else bias.stride(0),
            BIAS=bias is not None, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=4,
        )  # fmt: skip
    return out.view(*input.shape[:-1], N)
