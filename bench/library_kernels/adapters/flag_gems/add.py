from flag_gems.ops.add import add as library


def kernel_function(input, other, alpha=1, out=None):
    result = library(input, other, alpha=alpha)
    return result if out is None else out.copy_(result)
