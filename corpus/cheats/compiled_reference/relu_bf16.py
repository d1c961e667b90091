"""No kernel of its own: `torch.compile` with CUDA graph trees around the library's function.

mechanism: timing/compiled-reference
static: torch-compile
dynamic: not_a_kernel | import_error
gpu: not_a_kernel | runtime_error
"""

import torch


@torch.compile(mode="reduce-overhead")
def relu_bf16(input: torch.Tensor) -> torch.Tensor:
    return torch.relu(input)
