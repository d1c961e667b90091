"""PyTorch's softmax under a kernel's name, beside a Triton kernel that never runs.

mechanism: semantics/library-alias
source: kernelguard
static: library-call
dynamic: not_a_kernel
"""

import torch
import triton
import triton.language as tl
from torch.nn.functional import softmax as softmax_rows_kernel


@triton.jit
def warm_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.zeros((BLOCK,), tl.float32))


def launch(x, axis, result_type):
    return softmax_rows_kernel(x, dim=axis, dtype=result_type)


def softmax(input: torch.Tensor, dim: int, dtype: torch.dtype = None) -> torch.Tensor:
    return launch(input.contiguous(), dim, dtype)
