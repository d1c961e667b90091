import torch
from liger_kernel.ops.group_norm import group_norm_forward


def kernel_function(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    channels = input1.shape[1]
    weight = torch.ones(channels, device=input1.device) if weight is None else weight
    bias = torch.zeros(channels, device=input1.device) if bias is None else bias
    product = (input1 + input2) * input2
    result = group_norm_forward(product.contiguous(), channels, num_groups, weight, bias, eps)[0]
    return result if out is None else out.copy_(result)
