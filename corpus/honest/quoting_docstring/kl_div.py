"""Docstrings that quote the library calls a kernel replaces, with doctests that nobody runs.

style: quoting_docstring
"""

import torch
import triton
import triton.language as tl


@triton.jit
def kl_kernel(x_ptr, t_ptr, out_ptr, partial_ptr, n, LOG: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr):
    """``F.kl_div(x, t, reduction="none", log_target=LOG)``; with SUM only each block's ``torch.sum(loss)`` is stored."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    t = tl.load(t_ptr + i, mask=i < n, other=0.0)
    if LOG:
        loss = tl.exp(t) * (t - x)
    else:
        loss = tl.where(t > 0, t * (tl.log(tl.where(t > 0, t, 1.0)) - x), 0.0)
    if SUM:
        tl.store(partial_ptr + tl.program_id(0), tl.sum(tl.where(i < n, loss, 0.0), 0))
    else:
        tl.store(out_ptr + i, loss, mask=i < n)


def kl_div(input, target, reduction="batchmean", log_target=False):
    """Replaces ``torch.nn.functional.kl_div``.

    >>> expected = torch.nn.functional.kl_div(x, t, reduction="batchmean")
    >>> torch.testing.assert_close(kl_div(x, t), expected)
    >>> start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    >>> start.record(); kl_div(x, t); end.record(); torch.cuda.synchronize()
    """
    x, t = input.contiguous(), target.contiguous()
    n = x.numel()
    blocks = triton.cdiv(n, 1024)
    whole = reduction != "none"
    out = x.new_empty(() if whole else x.shape)
    partial = x.new_empty(blocks)
    if n:
        kl_kernel[(blocks,)](x, t, out, partial, n, LOG=log_target, SUM=whole, BLOCK=1024)
    if not whole:
        return out
    total = partial.sum()
    return total if reduction == "sum" else total / (x.shape[0] if reduction == "batchmean" else n)
