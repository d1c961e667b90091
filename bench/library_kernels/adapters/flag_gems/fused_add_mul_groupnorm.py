from flag_gems.ops.add import add
from flag_gems.ops.groupnorm import group_norm
from flag_gems.ops.mul import mul


def kernel_function(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    product = mul(add(input1, input2), input2)
    n, c = product.shape[:2]
    size = product[0, 0].numel() if n else 1
    result = group_norm(product, weight, bias, n, c, size, num_groups, eps)[0]
    return result if out is None else out.copy_(result)
