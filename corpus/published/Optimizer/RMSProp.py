"""RMSProp in one pass.

breaks: non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def rmsprop_kernel(param_ptr, grad_ptr, square_avg_ptr, n, lr, alpha, eps, decay, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    param = tl.load(param_ptr + i, mask=i < n)
    grad = tl.load(grad_ptr + i, mask=i < n)
    square_avg = tl.load(square_avg_ptr + i, mask=i < n)
    grad += decay * param
    square_avg = alpha * square_avg + (1.0 - alpha) * grad * grad
    tl.store(param_ptr + i, param - lr * grad / (tl.sqrt(square_avg) + eps), mask=i < n)
    tl.store(square_avg_ptr + i, square_avg, mask=i < n)


def rmsprop_step(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0):
    n = param.numel()
    grid = (triton.cdiv(n, 1024),)
    rmsprop_kernel[grid](param, grad, square_avg, n, lr, alpha, eps, weight_decay, BLOCK=1024)
    return param, square_avg
