from flag_gems.ops.gelu import gelu
from flag_gems.ops.min import min as smallest
from flag_gems.ops.min import min_dim


def kernel_function(input, approximate="none", dim=None, keepdim=False, out=None):
    activated = gelu(input, approximate=approximate)
    if dim is None:
        result = smallest(activated)
        return result if out is None else out.copy_(result)
    result = min_dim(activated, dim, keepdim)
    if out is None:
        return tuple(result)
    out[0].copy_(result[0])
    out[1].copy_(result[1])
    return out
