"""The backward of a suite's task: ./kbx eval examples/backward/softmax_backward.py --backward

A program has a row, whose probabilities it computes again: the result is not among the arguments. Ends as `correct`.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(grad_ptr, x_ptr, dx_ptr, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask, row = at < columns, tl.program_id(0).to(tl.int64) * columns
    x = tl.load(x_ptr + row + at, mask=mask, other=-float("inf"))
    grad = tl.load(grad_ptr + row + at, mask=mask, other=0.0).to(x.dtype)
    powers = tl.exp(x - tl.max(x))
    probability = powers / tl.sum(powers)
    tl.store(dx_ptr + row + at, probability * (grad - tl.sum(probability * grad)), mask=mask)


def softmax_backward(grad_output, input, dim, dtype=None):
    x = input.to(dtype or input.dtype).movedim(dim, -1).contiguous()
    grad = grad_output.movedim(dim, -1).contiguous()
    dx = torch.empty_like(x)
    if x.numel():
        columns = x.shape[-1]
        row_kernel[(x.numel() // columns,)](grad, x, dx, columns, triton.next_power_of_2(columns))
    return dx.movedim(-1, dim).contiguous().to(input.dtype)
