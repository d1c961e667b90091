"""One fused Adam step per parameter of the list, in place. Bias corrections are computed once, in double."""

import triton
import triton.language as tl


@triton.jit
def adam_kernel(
    param_ptr, grad_ptr, avg_ptr, sq_ptr, n, weight_decay, beta1, beta2, rest1, rest2, step_size, root, eps,
    BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    param = tl.load(param_ptr + i, mask=mask, other=0.0)
    grad = tl.load(grad_ptr + i, mask=mask, other=0.0) + weight_decay * param
    avg = beta1 * tl.load(avg_ptr + i, mask=mask, other=0.0) + rest1 * grad
    sq = beta2 * tl.load(sq_ptr + i, mask=mask, other=0.0) + rest2 * grad * grad
    tl.store(param_ptr + i, param - step_size * avg / (tl.sqrt(sq) / root + eps), mask=mask)
    tl.store(avg_ptr + i, avg, mask=mask)
    tl.store(sq_ptr + i, sq, mask=mask)


def adam_step(entry, lr, betas, eps, weight_decay):
    state = entry["param"], entry["exp_avg"], entry["exp_avg_sq"]
    flat = [t.contiguous() for t in state]
    (beta1, beta2), step, n = betas, entry["step"], entry["param"].numel()
    if n:
        adam_kernel[(triton.cdiv(n, 1024),)](
            flat[0], entry["grad"].contiguous(), flat[1], flat[2], n, float(weight_decay), float(beta1), float(beta2),
            1.0 - beta1, 1.0 - beta2, lr / (1.0 - beta1**step), (1.0 - beta2**step) ** 0.5, float(eps), BLOCK=1024,
        )  # fmt: skip
        for original, updated in zip(state, flat, strict=True):
            if updated is not original:
                original.copy_(updated)
    return state


def Adam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0):
    return [adam_step(entry, lr, betas, eps, weight_decay) for entry in params]
