from flag_gems.ops.exp import exp
from flag_gems.ops.mean import mean_dim


def kernel_function(input, dim=None, keepdim=False, dtype=None, out=None):
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    result = mean_dim(exp(input), dims, keepdim, dtype=dtype)
    return result if out is None else out.copy_(result)
