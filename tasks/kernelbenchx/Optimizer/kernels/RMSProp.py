"""One fused RMSProp step, in place: parameter and average are read once and written once."""

import triton
import triton.language as tl


@triton.jit
def rmsprop_kernel(
    param_ptr, grad_ptr, avg_ptr, n, lr, alpha, one_minus_alpha, eps, weight_decay,
    BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    param = tl.load(param_ptr + i, mask=mask, other=0.0)
    grad = tl.load(grad_ptr + i, mask=mask, other=0.0) + weight_decay * param
    avg = alpha * tl.load(avg_ptr + i, mask=mask, other=0.0) + one_minus_alpha * grad * grad
    tl.store(avg_ptr + i, avg, mask=mask)
    tl.store(param_ptr + i, param - lr * grad / (tl.sqrt(avg) + eps), mask=mask)


def rmsprop_step(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0):
    state = param, square_avg
    flat = [t.contiguous() for t in state]
    n = param.numel()
    if n:
        rmsprop_kernel[(triton.cdiv(n, 1024),)](
            flat[0], grad.contiguous(), flat[1], n,
            float(lr), float(alpha), 1.0 - alpha, float(eps), float(weight_decay), BLOCK=1024,
        )  # fmt: skip
        for original, updated in zip(state, flat, strict=True):
            if updated is not original:
                original.copy_(updated)
    return state
