"""Works in place on all the memory that a strided argument spans: what lies between its elements is overwritten, too.

mechanism: memory/gap-between-strided-elements
static: none
dynamic: input_mutated
breaks: non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, tl.where(x > 0, x, 0.0), mask=i < n)


def relu(input, inplace=False):
    if inplace:
        steps = zip(input.shape, input.stride(), strict=True)
        source = target = input
        n = 1 + sum((size - 1) * stride for size, stride in steps)
    else:
        source = input.contiguous()
        target, n = torch.empty_like(source), source.numel()
    if input.numel():
        relu_kernel[(triton.cdiv(n, 1024),)](source, target, n, BLOCK=1024)
    return target
