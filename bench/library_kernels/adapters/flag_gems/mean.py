from flag_gems.ops.mean import mean_dim as library


def kernel_function(input_tensor, dim, keepdim=False, dtype=None, out=None):
    result = library(input_tensor, [dim] if isinstance(dim, int) else dim, keepdim, dtype=dtype)
    return result if out is None else out.copy_(result)
