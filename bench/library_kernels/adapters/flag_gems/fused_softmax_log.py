from flag_gems.ops.log import log
from flag_gems.ops.softmax import softmax


def kernel_function(input, dim=-1, dtype=None):
    logarithms = log(input)
    return softmax(logarithms if dtype is None else logarithms.to(dtype), dim).contiguous()
