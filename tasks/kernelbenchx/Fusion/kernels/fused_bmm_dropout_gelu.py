"""One program makes one tile of one matrix of the batch, drops elements of it and applies GELU before it is stored.

Programs of the same matrix follow each other in bands of eight rows of tiles, so that they share what they read through
the cache.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit(do_not_specialize=["seed"])
def bmm_dropout_gelu_kernel(
    x_ptr, y_ptr, out_ptr, seed, keep, N, M, P,
    DROPOUT: tl.constexpr, TANH: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_M: tl.constexpr,
):  # fmt: skip
    tiles_n, tiles_p = tl.cdiv(N, BLOCK_N), tl.cdiv(P, BLOCK_P)
    tile, batch = tl.program_id(0), tl.program_id(1).to(tl.int64)
    band = tile // (8 * tiles_p)
    height = tl.minimum(tiles_n - band * 8, 8)
    in_band = tile % (8 * tiles_p)
    rows = ((band * 8 + in_band % height) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    columns = ((in_band // height) * BLOCK_P + tl.arange(0, BLOCK_P)).to(tl.int64)
    acc = tl.zeros((BLOCK_N, BLOCK_P), tl.float32)
    for start in range(0, M, BLOCK_M):
        m = start + tl.arange(0, BLOCK_M)
        x_mask = (rows[:, None] < N) & (m[None, :] < M)
        y_mask = (m[:, None] < M) & (columns[None, :] < P)
        x = tl.load(x_ptr + (batch * N + rows[:, None]) * M + m[None, :], mask=x_mask, other=0.0)
        y = tl.load(y_ptr + (batch * M + m[:, None]) * P + columns[None, :], mask=y_mask, other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    at = (batch * N + rows[:, None]) * P + columns[None, :]
    if DROPOUT:
        acc = tl.where(tl.rand(seed, at) < keep, acc / keep, 0.0)
    if TANH:
        result = acc * tl.sigmoid(1.5957691216057308 * (acc + 0.044715 * acc * acc * acc))
    else:
        result = 0.5 * acc * (1.0 + libdevice.erf(acc * 0.7071067811865476))
    tl.store(out_ptr + at, result, mask=(rows[:, None] < N) & (columns[None, :] < P))


def fused_bmm_dropout_gelu(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    (B, N, M), P = input1.shape, input2.shape[2]
    result = torch.empty((B, N, P), dtype=input1.dtype, device=input1.device) if out is None else out
    dropout = training and p > 0.0
    if dropout and p >= 1.0:
        return result.zero_()
    if result.numel():
        seed = int(torch.randint(1 << 31, (1,)).item()) if dropout else 0
        grid = (triton.cdiv(N, 64) * triton.cdiv(P, 64), B)
        bmm_dropout_gelu_kernel[grid](
            input1.contiguous(), input2.contiguous(), result, seed, 1.0 - p, N, M, P,
            DROPOUT=dropout, TANH=approximate == "tanh", BLOCK_N=64, BLOCK_P=64, BLOCK_M=16, num_warps=4,
        )  # fmt: skip
    return result
