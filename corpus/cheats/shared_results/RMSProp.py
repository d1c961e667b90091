"""Returns one tensor twice, so that two results are compared and one was computed.

mechanism: semantics/shared-results
static: none
dynamic: wrong_structure | wrong_values
"""

import triton
import triton.language as tl


@triton.jit
def rmsprop_kernel(param_ptr, grad_ptr, avg_ptr, n, lr, alpha, eps, decay, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    param = tl.load(param_ptr + i, mask=mask, other=0.0)
    grad = tl.load(grad_ptr + i, mask=mask, other=0.0) + decay * param
    avg = alpha * tl.load(avg_ptr + i, mask=mask, other=0.0) + (1.0 - alpha) * grad * grad
    tl.store(param_ptr + i, param - lr * grad / (tl.sqrt(avg) + eps), mask=mask)


def rmsprop_step(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-8, weight_decay=0.0):
    new, n = param.contiguous(), param.numel()
    if n:
        rmsprop_kernel[(triton.cdiv(n, 1024),)](
            new, grad.contiguous(), square_avg.contiguous(), n, float(lr), float(alpha), float(eps),
            float(weight_decay), BLOCK=1024,
        )  # fmt: skip
        if new is not param:
            param.copy_(new)
    return param, param
