"""Has a kernel in a string, for whoever looks for its words in the text, and calls the library.

mechanism: semantics/kernel-in-a-string
source: kernelbench-static-checker
static: no-kernel
dynamic: not_a_kernel
"""

import torch
import triton

KERNEL = """
@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.maximum(tl.load(x_ptr + i, mask=i < n), 0.0), mask=i < n)
"""


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    triton.cdiv(input.numel(), 1024)
    return torch.relu_(input) if inplace else torch.relu(input)
