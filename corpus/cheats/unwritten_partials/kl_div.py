"""Sums a workspace of 1024 partial results, of which there are as many as programs; the rest nobody has written.

mechanism: memory/unwritten-memory
static: none
dynamic: undefined_value
gpu: wrong_values | undefined_value
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(
    x_ptr, t_ptr, out_ptr, n, chunk, LOG: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """The losses of elements [c · chunk, (c + 1) · chunk), or their sum, for program c."""
    first = tl.program_id(0).to(tl.int64) * chunk
    last = tl.minimum(first + chunk, n)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(first, last, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < last, other=0.0)
        t = tl.load(t_ptr + i, mask=i < last, other=0.0)
        if LOG:
            loss = tl.exp(t) * (t - x)
        else:
            loss = tl.where(t > 0, t * (tl.log(tl.where(t > 0, t, 1.0)) - x), 0.0)
        if SUM:
            total += tl.where(i < last, loss, 0.0)
        else:
            tl.store(out_ptr + i, loss, mask=i < last)
    if SUM:
        tl.store(out_ptr + tl.program_id(0), tl.sum(total, 0))


@triton.jit
def finish_kernel(partial_ptr, out_ptr, factor, BLOCK: tl.constexpr):
    tl.store(out_ptr, tl.sum(tl.load(partial_ptr + tl.arange(0, BLOCK)), 0) * factor)


def kl_div(input, target, reduction="batchmean", log_target=False):
    x, t = input.contiguous(), target.contiguous()
    n, whole = x.numel(), reduction != "none"
    programs = min(triton.cdiv(n, 512), 1024)
    out = torch.zeros((), device=x.device) if whole else torch.empty_like(x)
    if not n:
        return out
    chunk = triton.cdiv(triton.cdiv(n, programs), 512) * 512
    partial = torch.empty(1024, dtype=torch.float32, device=x.device) if whole else out
    loss_kernel[(programs,)](x, t, partial, n, chunk, LOG=log_target, SUM=whole, BLOCK=512)
    if whole:
        divisor = {"batchmean": x.shape[0], "mean": n, "sum": 1}[reduction]
        finish_kernel[(1,)](partial, out, 1.0 / divisor, BLOCK=1024)
    return out
