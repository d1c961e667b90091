"""One program a channel: two passes over the batch, or the running statistics.

breaks: empty, non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def batch_norm_kernel(
    x_ptr,
    out_ptr,
    mean_ptr,
    var_ptr,
    weight_ptr,
    bias_ptr,
    n,
    channels,
    inner,
    momentum,
    eps,
    TRAIN: tl.constexpr,
    TRACK: tl.constexpr,
    WEIGHT: tl.constexpr,
    BIAS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    c = tl.program_id(0)
    k = tl.arange(0, BLOCK)
    place = ((k // inner) * channels + c) * inner + k % inner
    x = tl.load(x_ptr + place, mask=k < n, other=0.0)
    if TRAIN:
        mean = tl.sum(x, 0) / n
        spread = tl.where(k < n, x - mean, 0.0)
        squares = tl.sum(spread * spread, 0)
        var = squares / n
        if TRACK:
            tl.store(mean_ptr + c, (1.0 - momentum) * tl.load(mean_ptr + c) + momentum * mean)
            tl.store(var_ptr + c, (1.0 - momentum) * tl.load(var_ptr + c) + momentum * squares / (n - 1))
    else:
        mean, var = tl.load(mean_ptr + c), tl.load(var_ptr + c)
    y = (x - mean) / tl.sqrt(var + eps)
    if WEIGHT:
        y *= tl.load(weight_ptr + c)
    if BIAS:
        y += tl.load(bias_ptr + c)
    tl.store(out_ptr + place, y, mask=k < n)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    out, channels = torch.empty_like(input), input.shape[1]
    n, inner = input.numel() // channels, input.shape[2:].numel()
    batch_norm_kernel[(channels,)](
        input,
        out,
        running_mean,
        running_var,
        weight,
        bias,
        n,
        channels,
        inner,
        momentum,
        eps,
        TRAIN=training,
        TRACK=running_mean is not None,
        WEIGHT=weight is not None,
        BIAS=bias is not None,
        BLOCK=triton.next_power_of_2(n),
    )
    return out
