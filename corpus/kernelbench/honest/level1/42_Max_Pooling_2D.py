"""A tile of the output at a time, the window unrolled: neighbours share what they read, and the cache serves it.

style: module_windows
"""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def max_pool_kernel(
    x_ptr, y_ptr, height, width, out_height, out_width, padding,
    KERNEL: tl.constexpr, STRIDE: tl.constexpr, DILATION: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    across = tl.cdiv(out_width, COLUMNS)
    tiles = across * tl.cdiv(out_height, ROWS)
    plane, tile = (tl.program_id(0) // tiles).to(tl.int64), tl.program_id(0) % tiles
    i = tile // across * ROWS + tl.arange(0, ROWS)[:, None]
    j = tile % across * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    image = x_ptr + plane * height * width
    best = tl.full((ROWS, COLUMNS), -float("inf"), tl.float32)
    for u in tl.static_range(KERNEL):
        for v in tl.static_range(KERNEL):
            row = i * STRIDE - padding + u * DILATION
            column = j * STRIDE - padding + v * DILATION
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            x = tl.load(image + row * width + column, mask=inside, other=-float("inf"))
            # not-a-number wins, as in PyTorch
            best = tl.maximum(best, x, propagate_nan=tl.PropagateNan.ALL)
    at = plane * out_height * out_width + i * out_width + j
    tl.store(y_ptr + at, best, mask=(i < out_height) & (j < out_width))


class ModelNew(nn.Module):
    def __init__(self, kernel_size, stride, padding, dilation):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation

    def pooled(self, size):
        return (size + 2 * self.padding - self.dilation * (self.kernel_size - 1) - 1) // self.stride + 1

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        out_height, out_width = self.pooled(height), self.pooled(width)
        y = torch.empty(batch, channels, out_height, out_width, device=x.device, dtype=x.dtype)
        tiles = triton.cdiv(out_height, 32) * triton.cdiv(out_width, 64)
        max_pool_kernel[(batch * channels * tiles,)](
            x, y, height, width, out_height, out_width, self.padding,
            KERNEL=self.kernel_size, STRIDE=self.stride, DILATION=self.dilation, ROWS=32, COLUMNS=64, num_warps=8,
        )  # fmt: skip
        return y
