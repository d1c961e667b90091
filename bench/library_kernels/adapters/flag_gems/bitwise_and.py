import torch
from flag_gems.ops.bitwise_and import bitwise_and_scalar, bitwise_and_tensor


def kernel_function(input, other, out=None):
    library = bitwise_and_tensor if isinstance(other, torch.Tensor) else bitwise_and_scalar
    result = library(input, other)
    return result if out is None else out.copy_(result)
