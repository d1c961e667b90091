"""Launches twice the programs that it has blocks for: two programs update each parameter, and agree if they run at once.

mechanism: memory/two-programs-for-one-block
static: none
dynamic: race
gpu: wrong_values | gap
"""

import triton
import triton.language as tl


@triton.jit
def lion_kernel(param_ptr, grad_ptr, avg_ptr, n, lr, beta1, rest1, beta2, rest2, keep, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    param = tl.load(param_ptr + i, mask=mask, other=0.0)
    grad = tl.load(grad_ptr + i, mask=mask, other=0.0)
    avg = tl.load(avg_ptr + i, mask=mask, other=0.0)
    update = beta1 * avg + rest1 * grad
    sign = tl.where(update > 0, 1.0, tl.where(update < 0, -1.0, 0.0))
    tl.store(param_ptr + i, param * keep - lr * sign, mask=mask)
    tl.store(avg_ptr + i, beta2 * avg + rest2 * grad, mask=mask)


def lion_step(param, grad, exp_avg, lr=1e-4, beta1=0.9, beta2=0.99, weight_decay=0.0):
    state = (param, exp_avg)
    flat = [t.contiguous() for t in state]
    n = param.numel()
    if n:
        lion_kernel[(triton.cdiv(n, 1024), 2)](
            flat[0], grad.contiguous(), flat[1], n, lr, beta1, 1.0 - beta1, beta2, 1.0 - beta2, 1.0 - lr * weight_decay,
            BLOCK=1024,
        )  # fmt: skip
        for original, updated in zip(state, flat, strict=True):
            if updated is not original:
                original.copy_(updated)
    return state
