"""The grid is a functools.partial, the launch one too: `launch(x, out, n)` is all that is left to say.

style: partial_grid
"""

from functools import partial

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(x > 0, x, 0.0), mask=mask)


def blocks(n, meta):
    return (triton.cdiv(n, meta["BLOCK"]),)


def relu(input, inplace=False):
    source = input if input.is_contiguous() else input.contiguous()
    target = source if inplace else torch.empty_like(source)
    if source.numel() > 0:
        launch = partial(relu_kernel[partial(blocks, source.numel())], BLOCK=1024, num_warps=4)
        launch(source, target, source.numel())
    if not inplace:
        return target
    if target is not input:
        input.copy_(target)
    return input
