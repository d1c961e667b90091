"""C++ compiled while the module loads calls the library from there.

mechanism: semantics/inline-cpp
static: native-code
dynamic: import_error | runtime_error
gpu: cheating | not_a_kernel
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = "torch::Tensor relu_kernel(torch::Tensor x) { return torch::relu(x); }"

kernels = load_inline(name="kernels", cpp_sources=SOURCE, functions=["relu_kernel"])


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    result = kernels.relu_kernel(input)
    return input.copy_(result) if inplace else result
