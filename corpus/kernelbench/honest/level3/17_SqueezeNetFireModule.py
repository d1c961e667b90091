"""One kernel for all three convolutions: a product of the weights with what lies under them, ReLU in its epilogue. The two
expansions write to their halves of the result, so there is nothing to join.

style: module_implicit_gemm
"""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def conv_relu_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, channels, out_channels, y_channels, y_first, height, width,
    KERNEL: tl.constexpr, BO: tl.constexpr, BK: tl.constexpr, BP: tl.constexpr,
):  # fmt: skip
    """A tile (output channels, places) of one sample; sizes stay, ``KERNEL // 2`` zeros lie around.

    ``y`` has ``y_channels``; those that are written begin at ``y_first``.
    """
    plane = height * width
    out_tiles, place_tiles = tl.cdiv(out_channels, BO), tl.cdiv(plane, BP)
    outs = tl.program_id(0) % out_tiles * BO + tl.arange(0, BO)
    places = tl.program_id(0) // out_tiles % place_tiles * BP + tl.arange(0, BP)
    sample = (tl.program_id(0) // (out_tiles * place_tiles)).to(tl.int64)
    image = x_ptr + sample * channels * plane
    i, j = places // width, places % width
    k = channels * KERNEL * KERNEL
    total = tl.zeros((BO, BP), tl.float32)
    for start in range(0, k, BK):
        # the weights of an output channel lie as (channel, row, column), and so are the inner places counted
        inner = start + tl.arange(0, BK)
        channel = inner // (KERNEL * KERNEL)
        down = inner % (KERNEL * KERNEL) // KERNEL - KERNEL // 2
        right = inner % KERNEL - KERNEL // 2
        row, column = i[None, :] + down[:, None], j[None, :] + right[:, None]
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width) & (inner[:, None] < k)
        x = tl.load(image + channel[:, None] * plane + row * width + column, mask=inside, other=0.0)
        w = tl.load(
            w_ptr + outs[:, None] * k + inner[None, :],
            mask=(outs[:, None] < out_channels) & (inner[None, :] < k),
            other=0.0,
        )
        total += tl.dot(w, x, input_precision="ieee")
    y = total + tl.load(bias_ptr + outs, mask=outs < out_channels, other=0.0)[:, None]
    at = (sample * y_channels + y_first + outs[:, None]) * plane + places[None, :]
    # not-a-number stays what it is
    tl.store(y_ptr + at, tl.where(y < 0, 0.0, y), mask=(outs[:, None] < out_channels) & (places[None, :] < plane))


def conv_relu(x, conv, y, first=0):
    """Writes ``relu(conv(x))`` to the channels of ``y`` that begin at ``first``."""
    batch, channels, height, width = x.shape
    out_channels, kernel = conv.out_channels, conv.kernel_size[0]
    BO = min(64, max(16, triton.next_power_of_2(out_channels)))
    tiles = triton.cdiv(out_channels, BO) * triton.cdiv(height * width, 128)
    conv_relu_kernel[(batch * tiles,)](
        x, conv.weight, conv.bias, y, channels, out_channels, y.shape[1], first, height, width,
        KERNEL=kernel, BO=BO, BK=16, BP=128, num_warps=8 if BO == 64 else 4,
    )  # fmt: skip


class ModelNew(nn.Module):
    def __init__(self, in_channels, squeeze_channels, expand1x1_channels, expand3x3_channels):
        super().__init__()
        self.squeeze = nn.Conv2d(in_channels, squeeze_channels, kernel_size=1)
        self.expand1x1 = nn.Conv2d(squeeze_channels, expand1x1_channels, kernel_size=1)
        self.expand3x3 = nn.Conv2d(squeeze_channels, expand3x3_channels, kernel_size=3, padding=1)

    def forward(self, x):
        x = x.contiguous()
        batch, _, height, width = x.shape
        one, three = self.expand1x1.out_channels, self.expand3x3.out_channels
        like_x = dict(device=x.device, dtype=x.dtype)
        squeezed = torch.empty(batch, self.squeeze.out_channels, height, width, **like_x)
        y = torch.empty(batch, one + three, height, width, **like_x)
        conv_relu(x, self.squeeze, squeezed)
        conv_relu(squeezed, self.expand1x1, y)
        conv_relu(squeezed, self.expand3x3, y, first=one)
        return y
