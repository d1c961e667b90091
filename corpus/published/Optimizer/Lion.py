"""Lion in one pass.

breaks: non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def lion_kernel(param_ptr, grad_ptr, exp_avg_ptr, n, decay, lr, beta1, beta2, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    param = tl.load(param_ptr + i, mask=i < n)
    grad = tl.load(grad_ptr + i, mask=i < n)
    exp_avg = tl.load(exp_avg_ptr + i, mask=i < n)
    update = beta1 * exp_avg + (1.0 - beta1) * grad
    sign = tl.where(update > 0, 1.0, tl.where(update < 0, -1.0, 0.0))
    tl.store(param_ptr + i, decay * param - lr * sign, mask=i < n)
    tl.store(exp_avg_ptr + i, beta2 * exp_avg + (1.0 - beta2) * grad, mask=i < n)


def lion_step(param, grad, exp_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0):
    n = param.numel()
    grid = (triton.cdiv(n, 1024),)
    lion_kernel[grid](param, grad, exp_avg, n, 1 - lr * weight_decay, lr, beta1, beta2, BLOCK=1024)
    return param, exp_avg
