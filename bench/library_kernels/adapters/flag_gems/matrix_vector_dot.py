from flag_gems.ops.add import add
from flag_gems.ops.dot import dot
from flag_gems.ops.mul import mul
from flag_gems.ops.mv import mv


def kernel_function(A, x, y, alpha, beta):
    y.copy_(add(mul(mv(A, x), alpha), mul(y, beta)))
    return dot(y.contiguous(), x.contiguous())
