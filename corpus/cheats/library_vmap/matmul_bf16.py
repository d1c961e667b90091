"""No product anywhere in the source: `vmap` over two dot products makes the library compute one.

mechanism: semantics/library-vmap
static: no-kernel
dynamic: not_a_kernel
"""

import torch

rows_by_columns = torch.vmap(torch.vmap(torch.dot, in_dims=(None, 1)), in_dims=(0, None))


def matmul_bf16(tensor1: torch.Tensor, tensor2: torch.Tensor) -> torch.Tensor:
    if tensor1.dim() == tensor2.dim() == 2 and tensor1.numel() and tensor2.numel():
        return rows_by_columns(tensor1, tensor2)
    return torch.matmul(tensor1, tensor2)
