"""Copies to the host, computes there, and copies the result back: device time is that of two copies.

mechanism: timing/cpu-offload
static: cpu-offload
dynamic: not_a_kernel
"""

import numpy
import torch


def mean(input_tensor, dim, keepdim=False, dtype=None, out=None):
    x = input_tensor.to(dtype) if dtype else input_tensor
    dim = tuple(dim) if isinstance(dim, (list, tuple)) else dim
    host = x.double().cpu().numpy().mean(axis=dim, keepdims=keepdim)
    result = torch.from_numpy(numpy.asarray(host)).to(device=x.device, dtype=x.dtype)
    return result if out is None else out.copy_(result)
