"""Divergences of single elements, stored or added up. At most 1024 programs walk over a chunk each; one more adds their
sums.

Nothing is added atomically, so that two runs agree bit for bit.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(
    x_ptr, t_ptr, out_ptr, n, chunk, LOG_TARGET: tl.constexpr, REDUCE: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """The losses of elements [c · chunk, (c + 1) · chunk), or their sum, for program c."""
    first = tl.program_id(0).to(tl.int64) * chunk
    last = tl.minimum(first + chunk, n)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(first, last, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < last
        x = tl.load(x_ptr + at, mask=mask, other=0.0)
        t = tl.load(t_ptr + at, mask=mask, other=0.0)
        if LOG_TARGET:
            loss = tl.exp(t) * (t - x)
        else:
            # log(1) where there is nothing to take the logarithm of
            loss = tl.where(t > 0.0, t * (tl.log(tl.where(t > 0.0, t, 1.0)) - x), 0.0)
        if REDUCE:
            acc += tl.where(mask, loss, 0.0)
        else:
            tl.store(out_ptr + at, loss, mask=mask)
    if REDUCE:
        tl.store(out_ptr + tl.program_id(0), tl.sum(acc, 0))


@triton.jit
def finish_kernel(partial_ptr, out_ptr, chunks, divisor, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(partial_ptr + c, mask=c < chunks, other=0.0), 0) / divisor)


def kl_div(input, target, reduction="batchmean", log_target=False):
    x, t = input.contiguous(), target.contiguous()
    n, reduce = x.numel(), reduction != "none"
    chunks = min(triton.cdiv(n, 4096), 1024) if reduce else triton.cdiv(n, 4096)
    out = torch.empty((), dtype=x.dtype, device=x.device) if reduce else torch.empty_like(x)
    partial = torch.empty(chunks, dtype=torch.float32, device=x.device) if reduce else out
    if n:
        chunk = triton.cdiv(triton.cdiv(n, chunks), 1024) * 1024
        loss_kernel[(chunks,)](x, t, partial, n, chunk, LOG_TARGET=log_target, REDUCE=reduce, BLOCK=1024)
    if reduce:
        divisor = {"mean": float(n), "batchmean": float(input.shape[0])}.get(reduction, 1.0)
        finish_kernel[(1,)](partial, out, chunks, divisor, BLOCK=1024)
    return out
