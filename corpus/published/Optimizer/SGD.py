"""SGD with momentum and Nesterov's form; dampening is never asked for.

breaks: option_value:dampening, non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sgd_kernel(
    param_ptr,
    grad_ptr,
    buffer_ptr,
    n,
    lr,
    momentum,
    decay,
    MOMENTUM: tl.constexpr,
    NESTEROV: tl.constexpr,
    BLOCK: tl.constexpr,
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    param = tl.load(param_ptr + i, mask=i < n)
    grad = tl.load(grad_ptr + i, mask=i < n)
    buffer = tl.load(buffer_ptr + i, mask=i < n)
    grad += decay * param
    if MOMENTUM:
        buffer = momentum * buffer + grad
        tl.store(buffer_ptr + i, buffer, mask=i < n)
        grad = grad + momentum * buffer if NESTEROV else buffer
    tl.store(param_ptr + i, param - lr * grad, mask=i < n)


def sgd_step(param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False):
    buffer = torch.zeros_like(param) if momentum_buffer is None else momentum_buffer
    n = param.numel()
    grid = (triton.cdiv(n, 1024),)
    sgd_kernel[grid](
        param, grad, buffer, n, lr, momentum, weight_decay, MOMENTUM=momentum != 0, NESTEROV=nesterov, BLOCK=1024
    )
    return param, buffer if momentum else None
