"""A block of 1,024 elements a program, by the formulas as they are written."""

import triton
import triton.language as tl


@triton.jit
def adamw_kernel(
    master_ptr, m_ptr, v_ptr, param_ptr, grad_ptr, clip_ptr, N, lr, beta1, beta2, eps, decay, left1, left2,
    BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < N
    g = tl.load(grad_ptr + i, mask=mask, other=0.0).to(tl.float32) * tl.load(clip_ptr)
    master = tl.load(master_ptr + i, mask=mask, other=0.0)
    m = beta1 * tl.load(m_ptr + i, mask=mask, other=0.0) + (1.0 - beta1) * g
    v = beta2 * tl.load(v_ptr + i, mask=mask, other=0.0) + (1.0 - beta2) * g * g
    tl.store(m_ptr + i, m, mask=mask)
    tl.store(v_ptr + i, v, mask=mask)
    master -= lr * decay * master
    master -= lr * (m / left1) / (tl.sqrt(v / left2) + eps)
    tl.store(master_ptr + i, master, mask=mask)
    tl.store(param_ptr + i, master.to(tl.bfloat16), mask=mask)


def adamw_flat(
    master, exp_avg, exp_avg_sq, param, grad, clip, step: int, lr: float = 3e-4, beta1: float = 0.9, beta2: float = 0.95,
    eps: float = 1e-8, weight_decay: float = 0.1,
):  # fmt: skip
    N = master.numel()
    adamw_kernel[(triton.cdiv(N, 1024),)](
        master, exp_avg, exp_avg_sq, param, grad, clip, N, lr, beta1, beta2, eps, weight_decay,
        1 - beta1**step, 1 - beta2**step, BLOCK=1024,
    )  # fmt: skip
    return param
