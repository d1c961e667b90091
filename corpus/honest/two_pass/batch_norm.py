"""Batch normalisation in two passes: statistics of each channel, then one scale and one shift for its elements.

In training the running statistics are updated in place.

style: two_pass
"""

import torch
import triton
import triton.language as tl


@triton.jit
def statistics_kernel(x_ptr, mean_ptr, var_ptr, batch, C, spatial, BLOCK: tl.constexpr):
    """Mean and biased variance of channel c of (batch, C, spatial): twice over the data, no cancellation."""
    c = tl.program_id(0).to(tl.int64)
    n = batch * spatial
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        at = (i // spatial).to(tl.int64) * C * spatial + c * spatial + i % spatial
        acc += tl.load(x_ptr + at, mask=i < n, other=0.0).to(tl.float32)
    mean = tl.sum(acc, 0) / n
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        at = (i // spatial).to(tl.int64) * C * spatial + c * spatial + i % spatial
        x = tl.load(x_ptr + at, mask=i < n, other=0.0).to(tl.float32)
        acc += tl.where(i < n, (x - mean) * (x - mean), 0.0)
    tl.store(mean_ptr + c, mean)
    tl.store(var_ptr + c, tl.sum(acc, 0) / n)


@triton.jit
def update_kernel(running_ptr, batch_ptr, momentum, correction, C, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    old = tl.load(running_ptr + c, mask=c < C, other=0.0)
    new = tl.load(batch_ptr + c, mask=c < C, other=0.0) * correction
    tl.store(running_ptr + c, (1.0 - momentum) * old + momentum * new, mask=c < C)


@triton.jit
def normalise_kernel(
    x_ptr, out_ptr, mean_ptr, var_ptr, weight_ptr, bias_ptr, n, C, spatial, eps,
    WEIGHT: tl.constexpr, BIAS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    c = (i // spatial) % C
    y = tl.load(x_ptr + i, mask=mask, other=0.0).to(tl.float32) - tl.load(mean_ptr + c, mask=mask, other=0.0)
    y *= 1.0 / tl.sqrt(tl.load(var_ptr + c, mask=mask, other=1.0) + eps)
    if WEIGHT:
        y *= tl.load(weight_ptr + c, mask=mask, other=1.0)
    if BIAS:
        y += tl.load(bias_ptr + c, mask=mask, other=0.0)
    tl.store(out_ptr + i, y, mask=mask)


def update(running, batch, momentum, correction):
    """running ← (1 − momentum) · running + momentum · correction · batch, in place whatever its strides."""
    flat = running.contiguous()
    update_kernel[(triton.cdiv(flat.numel(), 1024),)](flat, batch, momentum, correction, flat.numel(), BLOCK=1024)
    if flat is not running:
        running.copy_(flat)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    x = input.contiguous()
    out = torch.empty_like(x)
    if not x.numel():
        return out
    batch, C, spatial = x.shape[0], x.shape[1], x.shape[2:].numel()
    if training or running_mean is None:
        mean, var = torch.empty((2, C), dtype=torch.float32, device=x.device)
        n = batch * spatial
        block = min(triton.next_power_of_2(n), 4096)
        statistics_kernel[(C,)](x, mean, var, batch, C, spatial, BLOCK=block)
        if running_mean is not None:
            update(running_mean, mean, momentum, 1.0)
            update(running_var, var, momentum, n / max(n - 1, 1))
    else:
        mean, var = running_mean.contiguous(), running_var.contiguous()
    weight, bias = (None if t is None else t.contiguous() for t in (weight, bias))
    normalise_kernel[(triton.cdiv(x.numel(), 1024),)](
        x, out, mean, var, weight, bias, x.numel(), C, spatial, eps,
        WEIGHT=weight is not None, BIAS=bias is not None, BLOCK=1024,
    )  # fmt: skip
    return out
