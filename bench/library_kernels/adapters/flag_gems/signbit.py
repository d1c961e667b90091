from flag_gems.ops.signbit import signbit as library


def kernel_function(input, out=None):
    result = library(input)
    return result if out is None else out.copy_(result)
