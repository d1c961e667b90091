"""Two results from one read where the shapes agree; otherwise the signs have a pass of their own.

The sign is the top bit of the number as it is stored, so that -0.0 counts as negative.
"""

from typing import Tuple  # noqa: UP035

import torch
import triton
import triton.language as tl


@triton.jit
def both_kernel(
    x_ptr, bits_ptr, y_ptr, signs_ptr, out_ptr, n,
    SIGNS: tl.constexpr, AND: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """``bits`` is the same memory as ``x``, seen as signed integers."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    if SIGNS:
        bits = tl.load(bits_ptr + i, mask=mask, other=0)
        tl.store(signs_ptr + i, (bits < 0).to(tl.uint8), mask=mask)
    if AND:
        x = tl.load(x_ptr + i, mask=mask, other=0)
        y = tl.load(y_ptr + i, mask=mask, other=0)
        if x.dtype.is_floating():
            x = x.to(tl.float32).to(tl.int32)
        tl.store(out_ptr + i, x.to(tl.int8) & y.to(tl.int8), mask=mask)


SIGNED = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def launch(x, y, signs, out, *, with_signs, with_and):
    n = x.numel()
    if n:
        y = y.view(torch.uint8) if y.dtype == torch.bool else y
        both_kernel[(triton.cdiv(n, 2048),)](
            x, x.view(SIGNED[x.itemsize]), y, signs.view(torch.uint8), out, n,
            SIGNS=with_signs, AND=with_and, BLOCK=2048,
        )  # fmt: skip


def signbit_bitwise_and(input: torch.Tensor, other: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:  # noqa: UP006
    signs = torch.empty(input.shape, dtype=torch.bool, device=input.device)
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input, other))
    out = torch.empty(x.shape, dtype=torch.int8, device=input.device)
    same = x.shape == input.shape
    if not same:
        # nothing to combine here: the outputs stand in for what is not read
        launch(input.contiguous(), out, signs, out, with_signs=True, with_and=False)
    launch(x, y, signs, out, with_signs=same, with_and=True)
    return signs, out
