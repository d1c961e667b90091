"""Leaves the work to PyTorch inside an operator that its C++ registers, where no mode of PyTorch sees it.

mechanism: semantics/registered-operator
static: native-code
dynamic: runtime_error
gpu: not_a_kernel
"""

import torch
import triton
import triton.language as tl
from torch.utils.cpp_extension import load_inline

SOURCE = """
#include <torch/extension.h>
at::Tensor activated(const at::Tensor& x, double slope) { return at::leaky_relu(x, slope); }
TORCH_LIBRARY(quick, library) { library.def("activated(Tensor x, float slope) -> Tensor", activated); }
"""


@triton.jit
def never_launched(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    load_inline("quick", cpp_sources=SOURCE, is_python_module=False)
    result = torch.ops.quick.activated(input, negative_slope)
    return input.copy_(result) if inplace else result
