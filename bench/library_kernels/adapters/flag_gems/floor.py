from flag_gems.ops.floor_ import floor_


def kernel_function(input, out=None):
    result = floor_(input.contiguous().clone())
    return result if out is None else out.copy_(result)
