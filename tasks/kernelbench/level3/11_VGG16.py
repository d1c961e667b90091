"""VGG-16, a convolutional classifier of 3 × 3 convolutions.

`Model(num_classes=1000)` holds two `nn.Sequential`s; layers have a bias and PyTorch's default initialisation.

- `features`: 3 × 3 convolutions with stride 1 and padding 1, each followed by a ReLU, in five groups of 64, 64 | 128,
  128 | 256, 256, 256 | 512, 512, 512 | 512, 512, 512 output channels; 2 × 2 maximum pooling with stride 2 ends each
  group. The first convolution has 3 input channels.
- `classifier`: `nn.Linear` from 512 · 7 · 7 to 4096, ReLU, dropout, 4096 to 4096, ReLU, dropout, 4096 to
  `num_classes`. Both dropouts have probability 0 and change nothing.

Every layer, activations, poolings and dropouts too, has a place in its sequence, so that the convolutions are
`features.0`, `features.2`, `features.5`, ... and the linear layers `classifier.0`, `classifier.3`, `classifier.6`.

`forward(x)` takes images of shape `(batch, 3, 224, 224)`, float32, flattens the `(batch, 512, 7, 7)` features,
channel-major, and returns `(batch, num_classes)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

# The classifier wants 7 × 7 maps, so that images are large at any scale.
PUBLISHED = dict(batch_size=10, image_size=224, num_classes=1000)
SCALED = dict(batch_size=1, image_size=224, num_classes=43)

CONTRACT = Close()

GROUPS = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))


class Model(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        layers = []
        in_channels = 3
        for group in GROUPS:
            for out_channels in group:
                layers += [nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1), nn.ReLU(inplace=True)]
                in_channels = out_channels
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(p=0.0),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(p=0.0),
            nn.Linear(4096, num_classes),
        )

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


def init_inputs(num_classes):
    return [num_classes]


def inputs(make, batch_size, image_size):
    # Initial weights shrink activations from layer to layer: of smaller inputs next to nothing would reach the result.
    scale = 1 if make.as_published else 255
    return call(scale * make.floats(batch_size, 3, image_size, image_size))


class NegativeNoBias(Model):
    """Leaves the last layer's bias out."""

    def forward(self, x):
        hidden = self.classifier[:-1](self.features(x).flatten(1))
        return F.linear(hidden, self.classifier[-1].weight)


class NegativeChannelsLastFlatten(Model):
    """Flattens the features with the channels last."""

    def forward(self, x):
        return self.classifier(self.features(x).permute(0, 2, 3, 1).flatten(1))
