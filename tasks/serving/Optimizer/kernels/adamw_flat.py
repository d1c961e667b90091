"""2,048 elements a program, 8 a thread, with everything that is the same for all of them computed by the host in double precision. Only the last
program masks: masked loads are narrow where the number of elements is no multiple of 16."""

import triton
import triton.language as tl


@triton.jit
def update(
    master_ptr, m_ptr, v_ptr, param_ptr, grad_ptr, clip, i, mask, keep, beta1, rest1, beta2, rest2, size, root, eps
):
    g = tl.load(grad_ptr + i, mask=mask, eviction_policy="evict_first").to(tl.float32) * clip
    m = tl.load(m_ptr + i, mask=mask, eviction_policy="evict_first")
    v = tl.load(v_ptr + i, mask=mask, eviction_policy="evict_first")
    master = tl.load(master_ptr + i, mask=mask, eviction_policy="evict_first")
    m = beta1 * m + rest1 * g
    v = beta2 * v + rest2 * g * g
    master = master * keep - size * m / (tl.sqrt(v) * root + eps)
    tl.store(m_ptr + i, m, mask=mask)
    tl.store(v_ptr + i, v, mask=mask)
    tl.store(master_ptr + i, master, mask=mask)
    tl.store(param_ptr + i, master.to(tl.bfloat16), mask=mask)


@triton.jit
def adamw_kernel(
    master_ptr, m_ptr, v_ptr, param_ptr, grad_ptr, clip_ptr, N,
    keep, beta1, rest1, beta2, rest2, size, root, eps, BLOCK: tl.constexpr,
):  # fmt: skip
    start = tl.program_id(0).to(tl.int64) * BLOCK
    i = start + tl.arange(0, BLOCK)
    clip = tl.load(clip_ptr)
    if start + BLOCK <= N:
        update(
            master_ptr, m_ptr, v_ptr, param_ptr, grad_ptr, clip, i, None,
            keep, beta1, rest1, beta2, rest2, size, root, eps,
        )  # fmt: skip
    else:
        update(
            master_ptr, m_ptr, v_ptr, param_ptr, grad_ptr, clip, i, i < N,
            keep, beta1, rest1, beta2, rest2, size, root, eps,
        )  # fmt: skip


def adamw_flat(
    master, exp_avg, exp_avg_sq, param, grad, clip, step: int, lr: float = 3e-4, beta1: float = 0.9, beta2: float = 0.95,
    eps: float = 1e-8, weight_decay: float = 0.1,
):  # fmt: skip
    N = master.numel()
    adamw_kernel[(triton.cdiv(N, 2048),)](
        master, exp_avg, exp_avg_sq, param, grad, clip, N,
        1 - lr * weight_decay, beta1, 1 - beta1, beta2, 1 - beta2,
        lr / (1 - beta1**step), (1 - beta2**step) ** -0.5, eps, BLOCK=2048, num_warps=8,
    )  # fmt: skip
    return param
