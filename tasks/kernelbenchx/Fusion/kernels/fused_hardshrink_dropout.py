"""Dropout and hard shrinkage in one pass over the elements; the mask is drawn on the fly and never stored.

Elements are taken in row-major order; in place, a strided input is worked on as a contiguous copy and copied back.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["seed"])
def hardshrink_dropout_kernel(
    x_ptr, out_ptr, seed, keep, lambd, n, DROPOUT: tl.constexpr, IN_PLACE: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    d = tl.load(x_ptr + at, mask=mask, other=0.0)
    if DROPOUT:
        # One number in [0, 1) for each element: its place counts, not the program, so that no two elements share one.
        d = tl.where(tl.rand(seed, at) < keep, d / keep, 0.0)
        if IN_PLACE:
            tl.store(x_ptr + at, d, mask=mask)
    tl.store(out_ptr + at, tl.where((d >= -lambd) & (d <= lambd), 0.0, d), mask=mask)


def fused_hardshrink_dropout(
    input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, lambd: float = 0.5
) -> torch.Tensor:
    x = input.contiguous()
    out = torch.empty_like(x)
    dropout = training and p > 0.0
    if dropout and p >= 1.0:
        out.zero_()
        if inplace:
            input.zero_()
    elif out.numel():
        seed = int(torch.randint(1 << 31, (1,)).item()) if dropout else 0
        hardshrink_dropout_kernel[(triton.cdiv(x.numel(), 2048),)](
            x, out, seed, 1.0 - p, float(lambd), x.numel(), DROPOUT=dropout, IN_PLACE=inplace, BLOCK=2048, num_warps=8
        )
        if dropout and inplace and x is not input:
            input.copy_(x)
    return out
