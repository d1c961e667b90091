"""One fused SGD step: parameter and momentum buffer are read once and written in place."""

import torch
import triton
import triton.language as tl


@triton.jit
def sgd_kernel(
    param_ptr, grad_ptr, buffer_ptr, n, lr, momentum, weight_decay, rest,
    MOMENTUM: tl.constexpr, FIRST: tl.constexpr, NESTEROV: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    param = tl.load(param_ptr + i, mask=mask, other=0.0)
    step = tl.load(grad_ptr + i, mask=mask, other=0.0) + weight_decay * param
    if MOMENTUM:
        buffer = rest * step
        if not FIRST:
            buffer += momentum * tl.load(buffer_ptr + i, mask=mask, other=0.0)
        tl.store(buffer_ptr + i, buffer, mask=mask)
        if NESTEROV:
            step += momentum * buffer
        else:
            step = buffer
    tl.store(param_ptr + i, param - lr * step, mask=mask)


def sgd_step(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):  # fmt: skip
    first = momentum_buffer is None
    if momentum == 0:
        momentum_buffer = None
    elif first:
        momentum_buffer = torch.empty(param.shape, dtype=param.dtype, device=param.device)
    state = [t for t in (param, momentum_buffer) if t is not None]
    flat = [t.contiguous() for t in state]
    n = param.numel()
    if n:
        sgd_kernel[(triton.cdiv(n, 1024),)](
            flat[0], grad.contiguous(), flat[-1], n, float(lr), float(momentum), float(weight_decay), 1.0 - dampening,
            MOMENTUM=momentum != 0, FIRST=first, NESTEROV=nesterov, BLOCK=1024,
        )  # fmt: skip
        for original, updated in zip(state, flat, strict=True):
            if updated is not original:
                original.copy_(updated)
    return param, momentum_buffer
