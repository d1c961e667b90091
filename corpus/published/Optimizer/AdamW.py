"""AdamW in one pass, the bias corrections worked out on the host.

breaks: non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def adamw_kernel(
    param_ptr, grad_ptr, exp_avg_ptr, exp_avg_sq_ptr, n, decay, rate, root, beta1, beta2, eps, BLOCK: tl.constexpr
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    param = tl.load(param_ptr + i, mask=i < n)
    grad = tl.load(grad_ptr + i, mask=i < n)
    exp_avg = tl.load(exp_avg_ptr + i, mask=i < n)
    exp_avg_sq = tl.load(exp_avg_sq_ptr + i, mask=i < n)
    exp_avg = beta1 * exp_avg + (1.0 - beta1) * grad
    exp_avg_sq = beta2 * exp_avg_sq + (1.0 - beta2) * grad * grad
    param = decay * param - rate * exp_avg / (tl.sqrt(exp_avg_sq) / root + eps)
    tl.store(param_ptr + i, param, mask=i < n)
    tl.store(exp_avg_ptr + i, exp_avg, mask=i < n)
    tl.store(exp_avg_sq_ptr + i, exp_avg_sq, mask=i < n)


def adamw_step(param, grad, exp_avg, exp_avg_sq, step, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.01):
    n = param.numel()
    grid = (triton.cdiv(n, 1024),)
    adamw_kernel[grid](
        param,
        grad,
        exp_avg,
        exp_avg_sq,
        n,
        1 - lr * weight_decay,
        lr / (1 - beta1**step),
        (1 - beta2**step) ** 0.5,
        beta1,
        beta2,
        eps,
        BLOCK=1024,
    )
    return param, exp_avg, exp_avg_sq
