"""Forward and backward as a torch.autograd.Function, called through `apply`; only the forward pass is asked for here.

style: autograd_function
"""

import torch
import triton
import triton.language as tl


@triton.jit
def forward_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, ACC: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(ACC)
    tl.store(y_ptr + offsets, 1.0 / (1.0 + tl.exp(-x)), mask=mask)


@triton.jit
def backward_kernel(y_ptr, dy_ptr, dx_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
    dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0)
    tl.store(dx_ptr + offsets, dy * y * (1.0 - y), mask=mask)


class TritonSigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        if x.numel():
            acc = tl.float64 if x.dtype == torch.float64 else tl.float32
            forward_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024, ACC=acc)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        grad_output = grad_output.contiguous()
        dx = torch.empty_like(y)
        if y.numel():
            backward_kernel[(triton.cdiv(y.numel(), 1024),)](y, grad_output, dx, y.numel(), BLOCK=1024)
        return dx


def sigmoid(input, out=None):
    result = TritonSigmoid.apply(input)
    return result if out is None else out.copy_(result)
