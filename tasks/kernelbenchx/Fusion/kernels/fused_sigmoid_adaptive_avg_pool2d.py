"""Adaptive average pooling and the logistic function: a tile is some outputs times their windows.

Small windows give tiles with many outputs, one window as large as the image a tile with few; a window that is larger
than the tile is walked through in steps.
"""

# ruff: noqa: UP006, UP007, UP035

from typing import Tuple, Union

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def sigmoid_pool_kernel(
    x_ptr, out_ptr, n, H, W, OH, OW, rows, columns, x_n, x_c, x_h, x_w, C,
    OUTPUTS: tl.constexpr, WINDOW: tl.constexpr,
):  # fmt: skip
    """``rows`` and ``columns`` are the largest window's."""
    o = tl.program_id(0).to(tl.int64) * OUTPUTS + tl.arange(0, OUTPUTS)
    plane, i, j = o // (OH * OW), (o // OW % OH).to(tl.int32), (o % OW).to(tl.int32)
    top, bottom = i * H // OH, ((i + 1) * H + OH - 1) // OH
    left, right = j * W // OW, ((j + 1) * W + OW - 1) // OW
    base = plane // C * x_n + plane % C * x_c
    acc = tl.zeros((OUTPUTS, WINDOW), tl.float32)
    for start in range(0, rows * columns, WINDOW):
        k = start + tl.arange(0, WINDOW)
        h, w = top[:, None] + (k // columns)[None, :], left[:, None] + (k % columns)[None, :]
        mask = (o < n)[:, None] & (h < bottom[:, None]) & (w < right[:, None])
        at = base[:, None] + h.to(tl.int64) * x_h + w.to(tl.int64) * x_w
        acc += tl.load(x_ptr + at, mask=mask, other=0.0)
    mean = tl.sum(acc, 1) / ((bottom - top) * (right - left))
    tl.store(out_ptr + o, tl.sigmoid(mean), mask=o < n)


def fused_sigmoid_adaptive_avg_pool2d(input: Tensor, output_size: Union[int, Tuple[int, int]]) -> Tensor:
    x = input if input.dim() == 4 else input.unsqueeze(0)
    N, C, H, W = x.shape
    OH, OW = (output_size, output_size) if isinstance(output_size, int) else output_size
    out = torch.empty((*input.shape[:-2], OH, OW), dtype=input.dtype, device=input.device)
    if out.numel():
        # A window of ceil((i + 1)·H/OH) - floor(i·H/OH) rows has at most one row more than H/OH rounded up.
        rows, columns = (min(size, triton.cdiv(size, places) + (size % places > 0))
                         for size, places in ((H, OH), (W, OW)))  # fmt: skip
        window = min(triton.next_power_of_2(rows * columns), 1024)
        outputs = min(triton.next_power_of_2(out.numel()), max(2048 // window, 1))
        sigmoid_pool_kernel[(triton.cdiv(out.numel(), outputs),)](
            x, out, out.numel(), H, W, OH, OW, rows, columns, *x.stride(), C,
            OUTPUTS=outputs, WINDOW=window, num_warps=8,
        )  # fmt: skip
    return out
