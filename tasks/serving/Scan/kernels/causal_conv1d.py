"""A program has some channels by a chunk of time; what lies before the chunk is read again, from `x` or the state. The last chunk writes the state."""

import torch
import triton
import triton.language as tl


@triton.jit
def conv_kernel(
    x_ptr, weight_ptr, bias_ptr, state_ptr, out_ptr, after_ptr, channels, D, L,
    W: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_T: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    t = tl.program_id(1) * BLOCK_T + tl.arange(0, BLOCK_T)
    inside, d, wide = (row < channels)[:, None], row % D, row.to(tl.int64)[:, None]
    acc = tl.zeros((BLOCK_D, BLOCK_T), tl.float32) + tl.load(bias_ptr + d).to(tl.float32)[:, None]
    for w in tl.static_range(W):
        source = t - (W - 1 - w)
        x = tl.load(
            x_ptr + wide * L + source[None, :], mask=inside & ((source >= 0) & (source < L))[None, :], other=0.0
        )
        if w < W - 1:
            before = source + W - 1
            x += tl.load(state_ptr + wide * (W - 1) + before[None, :], mask=inside & (source < 0)[None, :], other=0.0)
        acc += tl.load(weight_ptr + d * W + w).to(tl.float32)[:, None] * x.to(tl.float32)
    out = acc * tl.sigmoid(acc)
    tl.store(out_ptr + wide * L + t[None, :], out.to(tl.bfloat16), mask=inside & (t < L)[None, :])
    if tl.program_id(1) == tl.num_programs(1) - 1:
        i = tl.arange(0, 4)[None, :]
        moved = L - (W - 1) + i
        last = tl.load(x_ptr + wide * L + moved, mask=inside & (i < W - 1) & (moved >= 0), other=0.0)
        last += tl.load(state_ptr + wide * (W - 1) + L + i, mask=inside & (i < W - 1) & (moved < 0), other=0.0)
        tl.store(after_ptr + wide * (W - 1) + i, last, mask=inside & (i < W - 1))


def causal_conv1d(x, weight, bias, state):
    B, D, L = x.shape
    out, after = torch.empty_like(x), torch.empty_like(state)
    block_t = min(1024, triton.next_power_of_2(L))
    block_d = min(256, 2048 // block_t)
    grid = (triton.cdiv(B * D, block_d), triton.cdiv(L, block_t))
    conv_kernel[grid](
        x, weight, bias, state, out, after, B * D, D, L, W=weight.shape[1], BLOCK_D=block_d, BLOCK_T=block_t
    )
    return out, after
