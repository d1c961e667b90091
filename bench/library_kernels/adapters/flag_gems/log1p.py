from flag_gems.ops.log1p_ import log1p_


def kernel_function(input, out=None):
    result = log1p_(input.contiguous().clone())
    return result if out is None else out.copy_(result)
