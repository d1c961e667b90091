"""Branches with `pass`, an `else` that raises, and a `try … finally` around nothing dangerous.

style: pass_branches
source: kernelbench-static-checker
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sgd_kernel(
    param_ptr, grad_ptr, buffer_ptr, n, lr, momentum, decay, keep,
    MOMENTUM: tl.constexpr, NESTEROV: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    param = tl.load(param_ptr + i, mask=i < n, other=0.0)
    grad = tl.load(grad_ptr + i, mask=i < n, other=0.0) + decay * param
    if MOMENTUM:
        buffer = momentum * tl.load(buffer_ptr + i, mask=i < n, other=0.0) + keep * grad
        tl.store(buffer_ptr + i, buffer, mask=i < n)
        if NESTEROV:
            grad += momentum * buffer
        else:
            grad = buffer
    else:
        pass
    tl.store(param_ptr + i, param - lr * grad, mask=i < n)


def sgd_step(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):  # fmt: skip
    if param.dtype == torch.float32:
        pass
    elif param.dtype.is_floating_point:
        raise NotImplementedError(param.dtype)
    else:
        raise TypeError("parameters are floating point")

    if momentum == 0:
        momentum_buffer_out = None
        buffer = param
    else:
        if momentum_buffer is None:
            momentum_buffer = torch.zeros_like(param, memory_format=torch.contiguous_format)
        momentum_buffer_out = momentum_buffer
        buffer = momentum_buffer.contiguous()

    flat = param.contiguous()
    try:
        if flat.numel():
            sgd_kernel[(triton.cdiv(flat.numel(), 1024),)](
                flat, grad.contiguous(), buffer, flat.numel(), lr, momentum, weight_decay, 1.0 - dampening,
                MOMENTUM=momentum != 0, NESTEROV=nesterov, BLOCK=1024,
            )  # fmt: skip
    finally:
        del grad
    if flat is not param:
        param.copy_(flat)
    if momentum_buffer_out is not None and buffer is not momentum_buffer_out:
        momentum_buffer_out.copy_(buffer)
    return param, momentum_buffer_out
