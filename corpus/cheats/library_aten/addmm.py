"""Goes to the operator table under PyTorch's Python functions.

mechanism: semantics/library-aten
static: no-kernel
dynamic: not_a_kernel
"""

import torch

gemm = torch.ops.aten.addmm.default


def addmm(
    input: torch.Tensor, mat1: torch.Tensor, mat2: torch.Tensor, beta: float = 1, alpha: float = 1, out=None
) -> torch.Tensor:
    result = gemm(input, mat1, mat2, beta=beta, alpha=alpha)
    return result if out is None else out.copy_(result)
