"""One fused AdamW step that updates parameter and moments in place, under the alias `adamw_step`.

style: in_place
"""

import triton
import triton.language as tl


@triton.jit
def adamw_kernel(
    param_ptr, grad_ptr, avg_ptr, sq_ptr, n, decay, beta1, beta2, one_minus_beta1, one_minus_beta2,
    step_size, root_correction2, eps, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    grad = tl.load(grad_ptr + i, mask=mask, other=0.0).to(tl.float32)
    avg = tl.load(avg_ptr + i, mask=mask, other=0.0).to(tl.float32) * beta1 + grad * one_minus_beta1
    sq = tl.load(sq_ptr + i, mask=mask, other=0.0).to(tl.float32) * beta2 + grad * grad * one_minus_beta2
    param = tl.load(param_ptr + i, mask=mask, other=0.0).to(tl.float32) * decay
    param -= step_size * avg / (tl.sqrt(sq) / root_correction2 + eps)
    tl.store(param_ptr + i, param, mask=mask)
    tl.store(avg_ptr + i, avg, mask=mask)
    tl.store(sq_ptr + i, sq, mask=mask)


def adamw_step(param, grad, exp_avg, exp_avg_sq, step, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    state = (param, exp_avg, exp_avg_sq)
    flat = [t.contiguous() for t in state]
    n = param.numel()
    if n:
        # bias corrections in double precision, once, instead of per element in single
        adamw_kernel[(triton.cdiv(n, 1024),)](
            flat[0], grad.contiguous(), flat[1], flat[2], n, 1.0 - lr * weight_decay, beta1, beta2, 1.0 - beta1,
            1.0 - beta2, lr / (1.0 - beta1**step), (1.0 - beta2**step) ** 0.5, eps, BLOCK=1024,
        )  # fmt: skip
        for original, updated in zip(state, flat, strict=True):
            if updated is not original:
                original.copy_(updated)
    return state
