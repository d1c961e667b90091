from flag_gems.ops.batch_norm import batch_norm as library


def kernel_function(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    return library(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]
