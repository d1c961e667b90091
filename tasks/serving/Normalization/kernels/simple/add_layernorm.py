"""A program a row, in three passes over blocks: the mean, the variance, the result."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_layernorm_kernel(x_ptr, residual_ptr, weight_ptr, bias_ptr, y_ptr, h_ptr, D, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * D
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, D, BLOCK):
        i = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + i, mask=i < D, other=0.0).to(tl.float32)
        h = x + tl.load(residual_ptr + start + i, mask=i < D, other=0.0).to(tl.float32)
        tl.store(h_ptr + start + i, h.to(tl.bfloat16), mask=i < D)
        total += h
    mean = tl.sum(total, 0) / D
    squares = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, D, BLOCK):
        i = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + i, mask=i < D, other=0.0).to(tl.float32)
        h = x + tl.load(residual_ptr + start + i, mask=i < D, other=0.0).to(tl.float32)
        squares += tl.where(i < D, (h - mean) * (h - mean), 0.0)
    root = 1.0 / tl.sqrt(tl.sum(squares, 0) / D + eps)
    for first in range(0, D, BLOCK):
        i = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + i, mask=i < D, other=0.0).to(tl.float32)
        h = x + tl.load(residual_ptr + start + i, mask=i < D, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + i, mask=i < D, other=0.0).to(tl.float32)
        bias = tl.load(bias_ptr + i, mask=i < D, other=0.0).to(tl.float32)
        tl.store(y_ptr + start + i, ((h - mean) * root * weight + bias).to(tl.bfloat16), mask=i < D)


def add_layernorm(x, residual, weight, bias, eps: float = 1e-5):
    y, h = torch.empty_like(x), torch.empty_like(x)
    add_layernorm_kernel[(x.shape[0],)](x, residual, weight, bias, y, h, x.shape[1], eps, BLOCK=1024)
    return y, h
