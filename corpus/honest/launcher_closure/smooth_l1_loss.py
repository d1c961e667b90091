"""A factory that closes over kernel and block and returns the launcher; losses first, a kernel adds them up by blocks.

style: launcher_closure
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(x_ptr, t_ptr, out_ptr, beta, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = tl.abs(tl.load(x_ptr + i, mask=i < n, other=0.0) - tl.load(t_ptr + i, mask=i < n, other=0.0))
    safe = tl.where(beta > 0, beta, 1.0)
    tl.store(out_ptr + i, tl.where(d < beta, 0.5 * d * d / safe, d - 0.5 * beta), mask=i < n)


@triton.jit
def sum_kernel(x_ptr, out_ptr, divisor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32), 0)
    tl.store(out_ptr + tl.program_id(0), total / divisor)


def launcher(kernel, block):
    def launch(*tensors_and_numbers, n):
        if n > 0:
            kernel[(triton.cdiv(n, block),)](*tensors_and_numbers, n, BLOCK=block)

    return launch


losses = launcher(loss_kernel, 1024)
partial_sums = launcher(sum_kernel, 4096)


def total(values, divisor):
    """Tree of partial sums: each round leaves a 4096th of the numbers."""
    n = values.numel()
    while n > 1:
        fewer = torch.empty(triton.cdiv(n, 4096), dtype=torch.float32, device=values.device)
        partial_sums(values, fewer, 1.0, n=n)
        values, n = fewer, fewer.numel()
    result = torch.zeros((), dtype=torch.float32, device=values.device)
    partial_sums(values, result, divisor, n=n)
    return result


def smooth_l1_loss(input, target, beta=1.0, reduction="mean"):
    x, t = input.contiguous(), target.contiguous()
    n = x.numel()
    out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    losses(x, t, out, float(beta), n=n)
    if reduction == "none":
        return out
    if n == 0:
        return torch.full((), 0.0 if reduction == "sum" else float("nan"), device=x.device)
    return total(out.view(-1), float(n) if reduction == "mean" else 1.0)
