"""Fire module of SqueezeNet.

`Model(in_channels, squeeze_channels, expand1x1_channels, expand3x3_channels)`: convolutions with stride 1, bias and
PyTorch's default initialisation.

- `squeeze`: 1 × 1, `in_channels` to `squeeze_channels`;
- `expand1x1`: 1 × 1, `squeeze_channels` to `expand1x1_channels`;
- `expand3x3`: 3 × 3 with padding 1, `squeeze_channels` to `expand3x3_channels`.

`forward(x)` takes `x` of shape `(batch, in_channels, height, width)`, float32. With `s = relu(squeeze(x))` it returns
`relu(expand1x1(s))` and `relu(expand3x3(s))`, joined along the channels in this order:
`(batch, expand1x1_channels + expand3x3_channels, height, width)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(
    batch_size=128, height=256, width=256,
    in_channels=3, squeeze_channels=6, expand1x1_channels=64, expand3x3_channels=64,
)  # fmt: skip
SCALED = dict(
    batch_size=3, height=13, width=19,
    in_channels=3, squeeze_channels=6, expand1x1_channels=11, expand3x3_channels=9,
)  # fmt: skip

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, squeeze_channels, expand1x1_channels, expand3x3_channels):
        super().__init__()
        self.squeeze = nn.Conv2d(in_channels, squeeze_channels, kernel_size=1)
        self.expand1x1 = nn.Conv2d(squeeze_channels, expand1x1_channels, kernel_size=1)
        self.expand3x3 = nn.Conv2d(squeeze_channels, expand3x3_channels, kernel_size=3, padding=1)

    def forward(self, x):
        squeezed = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.expand1x1(squeezed)), F.relu(self.expand3x3(squeezed))], dim=1)


def init_inputs(in_channels, squeeze_channels, expand1x1_channels, expand3x3_channels):
    return [in_channels, squeeze_channels, expand1x1_channels, expand3x3_channels]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveOneExpansion(Model):
    """Both expansions in one 3 × 3 convolution, the first with zeros around its weights."""

    def forward(self, x):
        weight = torch.cat([F.pad(self.expand1x1.weight, (1, 1, 1, 1)), self.expand3x3.weight])
        bias = torch.cat([self.expand1x1.bias, self.expand3x3.bias])
        squeezed = torch.einsum("oc,bchw->bohw", self.squeeze.weight.flatten(1), x) + self.squeeze.bias[:, None, None]
        return F.conv2d(squeezed.relu(), weight, bias, padding=1).relu()


class NegativeNoSqueezeActivation(Model):
    """Leaves the ReLU after the squeeze out."""

    def forward(self, x):
        squeezed = self.squeeze(x)
        return torch.cat([F.relu(self.expand1x1(squeezed)), F.relu(self.expand3x3(squeezed))], dim=1)


class NegativeUnmaskedPadding(Model):
    """Squeezes a padded input: the border holds the activated bias, not zeros."""

    def forward(self, x):
        padded = F.relu(self.squeeze(F.pad(x, (1, 1, 1, 1))))
        three = F.conv2d(padded, self.expand3x3.weight, self.expand3x3.bias)
        return torch.cat([F.relu(self.expand1x1(padded[..., 1:-1, 1:-1])), F.relu(three)], dim=1)


class NegativeSwapped(Model):
    """Joins the two expansions the other way round."""

    def forward(self, x):
        squeezed = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.expand3x3(squeezed)), F.relu(self.expand1x1(squeezed))], dim=1)
