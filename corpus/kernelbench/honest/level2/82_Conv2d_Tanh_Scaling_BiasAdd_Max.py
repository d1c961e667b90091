"""PyTorch convolves; all the rest is one pass that reads each sum once and writes a sixteenth of them.

Tanh and a positive factor keep the order of numbers and a negative one turns it around, so the window's extreme is found
first, and tanh is taken of that alone.

style: module_library_convolution
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import nn
from triton.language.extra import libdevice


@triton.jit
def tanh_pool_kernel(
    x_ptr, conv_bias_ptr, bias_ptr, y_ptr, n, channels, height, width, out_height, out_width, factor,
    POOL: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place < n
    plane, within = place // (out_height * out_width), (place % (out_height * out_width)).to(tl.int32)
    corner = x_ptr + plane * height * width + within // out_width * POOL * width + within % out_width * POOL
    sign = tl.where(factor < 0, -1.0, 1.0)
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    for u in tl.static_range(POOL):
        for v in tl.static_range(POOL):
            x = tl.load(corner + u * width + v, mask=inside, other=0.0)
            # not-a-number wins, as in PyTorch
            best = tl.maximum(best, sign * x, propagate_nan=tl.PropagateNan.ALL)
    channel = plane % channels
    best = sign * best + tl.load(conv_bias_ptr + channel, mask=inside)
    y = libdevice.tanh(best) * factor + tl.load(bias_ptr + channel, mask=inside)
    tl.store(y_ptr + place, y, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, scaling_factor, bias_shape, pool_kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.scaling_factor = scaling_factor
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.pool = pool_kernel_size

    def forward(self, x):
        # without its bias, which would be one more pass over all sums
        x = F.conv2d(x, self.conv.weight).contiguous()
        batch, channels, height, width = x.shape
        pooled = batch, channels, height // self.pool, width // self.pool
        y = torch.empty(pooled, device=x.device, dtype=x.dtype)
        tanh_pool_kernel[(triton.cdiv(y.numel(), 256),)](
            x, self.conv.bias, self.bias, y, y.numel(), *x.shape[1:], *y.shape[2:], self.scaling_factor,
            POOL=self.pool, BLOCK=256,
        )  # fmt: skip
        return y
