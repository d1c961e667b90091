"""Inverted bottleneck block of EfficientNet (MBConv), without squeeze and excitation.

`Model(in_channels, out_channels, kernel_size, stride, expand_ratio)` has three sequences; with
`h = in_channels · expand_ratio`:

- `expand_conv`, only if `expand_ratio` is not 1: a 1 × 1 convolution, `in_channels` to `h`; batch norm; ReLU6;
- `depthwise_conv`: a depthwise convolution (`groups = h`) of size `kernel_size`, with `stride` and padding
  `(kernel_size - 1) // 2`; batch norm; ReLU6;
- `project_conv`: a 1 × 1 convolution, `h` to `out_channels`; batch norm.

Convolutions have no bias and PyTorch's default initialisation. ReLU6 is `min(max(x, 0), 6)`.

`forward(x)` takes `x` of shape `(batch, in_channels, height, width)`, float32, and applies the three in this order.
Only if `stride` is 1 and `in_channels` equals `out_channels`, `x` is added to the result.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, and never by the running statistics.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(
    batch_size=10, height=224, width=224,
    in_channels=112, out_channels=192, kernel_size=5, stride=2, expand_ratio=6,
)  # fmt: skip
SCALED = dict(
    batch_size=2, height=19, width=25,
    in_channels=7, out_channels=11, kernel_size=5, stride=2, expand_ratio=6,
)  # fmt: skip

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, expand_ratio):
        super().__init__()
        hidden = in_channels * expand_ratio
        self.use_residual = stride == 1 and in_channels == out_channels
        self.expand_conv = nn.Identity()
        if expand_ratio != 1:
            self.expand_conv = nn.Sequential(
                nn.Conv2d(in_channels, hidden, kernel_size=1, bias=False),
                nn.BatchNorm2d(hidden),
                nn.ReLU6(inplace=True),
            )
        padding = (kernel_size - 1) // 2
        self.depthwise_conv = nn.Sequential(
            nn.Conv2d(hidden, hidden, kernel_size, stride, padding, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
        )
        self.project_conv = nn.Sequential(
            nn.Conv2d(hidden, out_channels, kernel_size=1, bias=False),
            nn.BatchNorm2d(out_channels),
        )

    def forward(self, x):
        out = self.project_conv(self.depthwise_conv(self.expand_conv(x)))
        return x + out if self.use_residual else out


def init_inputs(in_channels, out_channels, kernel_size, stride, expand_ratio):
    return [in_channels, out_channels, kernel_size, stride, expand_ratio]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveStatisticsFromProducts(Model):
    """The expansion's statistics from the input's mean and covariance, its scale folded into the weights."""

    def forward(self, x):
        conv, norm, relu = self.expand_conv
        weight, flat = conv.weight.flatten(1), x.transpose(0, 1).flatten(1)
        center = flat.mean(1, keepdim=True)
        covariance = (flat - center) @ (flat - center).T / flat.shape[1]
        scale = norm.weight / ((weight @ covariance * weight).sum(1) + norm.eps).sqrt()
        folded = weight * scale[:, None]
        out = torch.einsum("oc,bchw->bohw", folded, x - center[:, :, None]) + norm.bias[:, None, None]
        return self.project_conv(self.depthwise_conv(relu(out)))


class NegativeRunningStatistics(Model):
    """Normalises by the running statistics, as in evaluation."""

    def forward(self, x):
        self.eval()
        return super().forward(x)


class NegativeActivatedProjection(Model):
    """Puts a ReLU6 behind the projection, which has none."""

    def forward(self, x):
        return super().forward(x).clamp(0, 6)


class NegativeMissingActivation(Model):
    """Leaves the activation of the depthwise convolution out."""

    def forward(self, x):
        return self.project_conv(self.depthwise_conv[:2](self.expand_conv(x)))
