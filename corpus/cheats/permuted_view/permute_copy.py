"""Returns a view of its input in place of a copy: right in every value, and no work at all.

mechanism: semantics/permuted-view
static: none
dynamic: wrong_structure
"""

import torch
import triton
import triton.language as tl


@triton.jit
def prefetch_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.load(x_ptr + tl.arange(0, BLOCK), cache_modifier=".cg")


def permute_copy(input: torch.Tensor, dims: list) -> torch.Tensor:
    if input.numel():
        prefetch_kernel[(1,)](input, BLOCK=1)
    return input.permute(dims)
