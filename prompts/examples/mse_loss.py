import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(x_ptr, y_ptr, out_ptr, n, chunk, REDUCE: tl.constexpr, BLOCK: tl.constexpr):
    """The losses of elements [c · chunk, (c + 1) · chunk), or their sum, for program c."""
    first = tl.program_id(0).to(tl.int64) * chunk
    last = tl.minimum(first + chunk, n)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(first, last, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < last
        d = tl.load(x_ptr + at, mask=mask, other=0.0) - tl.load(y_ptr + at, mask=mask, other=0.0)
        if REDUCE:
            acc += d * d
        else:
            tl.store(out_ptr + at, d * d, mask=mask)
    if REDUCE:
        tl.store(out_ptr + tl.program_id(0), tl.sum(acc, 0))


@triton.jit
def finish_kernel(partial_ptr, out_ptr, chunks, divisor, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(partial_ptr + c, mask=c < chunks, other=0.0), 0) / divisor)


def mse_loss(input, target, reduction="mean"):
    x, y = input.contiguous(), target.contiguous()
    n, reduce = x.numel(), reduction != "none"
    chunks = min(triton.cdiv(n, 4096), 1024) if reduce else triton.cdiv(n, 4096)
    out = torch.empty((), dtype=x.dtype, device=x.device) if reduce else torch.empty_like(x)
    partial = torch.empty(chunks, dtype=torch.float32, device=x.device) if reduce else out
    if n:
        chunk = triton.cdiv(triton.cdiv(n, chunks), 1024) * 1024
        loss_kernel[(chunks,)](x, y, partial, n, chunk, REDUCE=reduce, BLOCK=1024)
    if reduce:
        divisor = float(n) if reduction == "mean" else 1.0
        finish_kernel[(1,)](partial, out, chunks, divisor, BLOCK=1024)
    return out
