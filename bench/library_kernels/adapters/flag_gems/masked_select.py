from flag_gems.ops.masked_select import masked_select as library


def kernel_function(input, mask):
    return library(input, mask)
