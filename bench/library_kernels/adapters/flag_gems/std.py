from flag_gems.ops.std import std as library


def kernel_function(input, dim=None, correction=1, keepdim=False, out=None):
    result = library(input, dim, correction=correction, keepdim=keepdim)
    return result if out is None else out.copy_(result)
