"""A program a row, a block of its columns at a time."""

import torch
import triton
import triton.language as tl


@triton.jit
def swiglu_backward_kernel(dy_ptr, x_ptr, dx_ptr, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, width, BLOCK):
        i = start + tl.arange(0, BLOCK)
        d = tl.load(dy_ptr + row * width + i, mask=i < width, other=0.0).to(tl.float32)
        a = tl.load(x_ptr + row * 2 * width + i, mask=i < width, other=0.0).to(tl.float32)
        b = tl.load(x_ptr + row * 2 * width + width + i, mask=i < width, other=0.0).to(tl.float32)
        s = 1.0 / (1.0 + tl.exp(-a))
        tl.store(dx_ptr + row * 2 * width + i, (d * b * s * (1.0 + a * (1.0 - s))).to(tl.bfloat16), mask=i < width)
        tl.store(dx_ptr + row * 2 * width + width + i, (d * a * s).to(tl.bfloat16), mask=i < width)


def swiglu_backward(grad_output, gate_up):
    out = torch.empty_like(gate_up)
    swiglu_backward_kernel[(grad_output.shape[0],)](grad_output, gate_up, out, grad_output.shape[1], BLOCK=1024)
    return out
