"""A program a channel, over all of its time; a second kernel moves the state on."""

import torch
import triton
import triton.language as tl


@triton.jit
def past(x_ptr, state_ptr, channel, t, L, W: tl.constexpr):
    """Elements at times from `−(W − 1)` on, of `x` or of the state."""
    x = tl.load(x_ptr + channel * L + t, mask=(t >= 0) & (t < L), other=0.0)
    before = tl.load(state_ptr + channel * (W - 1) + t + W - 1, mask=(t < 0) & (t >= 1 - W), other=0.0)
    return tl.where(t < 0, before, x)


@triton.jit
def conv_kernel(x_ptr, weight_ptr, bias_ptr, state_ptr, out_ptr, D, L, W: tl.constexpr, BLOCK: tl.constexpr):
    channel = tl.program_id(0).to(tl.int64)
    d = channel % D
    for start in range(0, L, BLOCK):
        t = start + tl.arange(0, BLOCK)
        acc = tl.zeros((BLOCK,), tl.float32) + tl.load(bias_ptr + d).to(tl.float32)
        for w in range(W):
            weight = tl.load(weight_ptr + d * W + w).to(tl.float32)
            acc += weight * past(x_ptr, state_ptr, channel, t + w - (W - 1), L, W).to(tl.float32)
        out = acc / (1.0 + tl.exp(-acc))
        tl.store(out_ptr + channel * L + t, out.to(tl.bfloat16), mask=t < L)


@triton.jit
def state_kernel(x_ptr, state_ptr, after_ptr, channels, L, W: tl.constexpr, BLOCK: tl.constexpr):
    channel = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)[:, None]
    i = tl.arange(0, 4)[None, :]
    t = i + L - (W - 1)
    mask = (channel < channels) & (i < W - 1)
    x = tl.load(x_ptr + channel * L + t, mask=mask & (t >= 0), other=0.0)
    before = tl.load(state_ptr + channel * (W - 1) + t + W - 1, mask=mask & (t < 0), other=0.0)
    tl.store(after_ptr + channel * (W - 1) + i, tl.where(t < 0, before, x), mask=mask)


def causal_conv1d(x, weight, bias, state):
    (B, D, L), W = x.shape, weight.shape[1]
    out, after = torch.empty_like(x), torch.empty_like(state)
    conv_kernel[(B * D,)](x, weight, bias, state, out, D, L, W=W, BLOCK=256)
    state_kernel[(triton.cdiv(B * D, 64),)](x, state, after, B * D, L, W=W, BLOCK=64)
    return out, after
