"""LeNet-5, a small convolutional classifier.

`Model(num_classes)` has the layers `conv1` (1 to 6 channels, 5 × 5), `conv2` (6 to 16, 5 × 5), `fc1` (400 to 120),
`fc2` (120 to 84) and `fc3` (84 to `num_classes`): `nn.Conv2d` with stride 1 and no padding, and `nn.Linear`, all with
bias and PyTorch's default initialisation.

`forward(x)` takes `x` of shape `(batch, 1, 32, 32)`, float32 (any side from 32 to 35 leads to 5 × 5 maps):

1. `conv1`, ReLU, 2 × 2 maximum pooling of stride 2: `(batch, 6, 14, 14)`; an odd last row and column are dropped;
2. `conv2`, ReLU, 2 × 2 maximum pooling of stride 2: `(batch, 16, 5, 5)`;
3. flattened to `(batch, 400)`, channel-major; `fc1`, ReLU, `fc2`, ReLU, `fc3`.

The result is `(batch, num_classes)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=4096, image_size=32, num_classes=20)
SCALED = dict(batch_size=5, image_size=33, num_classes=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, kernel_size=5)
        self.conv2 = nn.Conv2d(6, 16, kernel_size=5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, num_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def init_inputs(num_classes):
    return [num_classes]


def inputs(make, batch_size, image_size):
    return call(make.floats(batch_size, 1, image_size, image_size))


class PositivePoolFirst(Model):
    """Pools before the ReLU, and convolves as a matrix product of unfolded patches."""

    def forward(self, x):
        for conv in (self.conv1, self.conv2):
            side = x.shape[-1] - 4
            patches = conv.weight.flatten(1) @ F.unfold(x, 5)
            x = F.max_pool2d(patches.unflatten(-1, (side, side)) + conv.bias[:, None, None], 2).relu()
        return self.fc3(self.fc2(self.fc1(x.flatten(1)).relu()).relu())


class NegativeAveragePooling(Model):
    """Averages where the maximum is wanted."""

    def forward(self, x):
        x = F.avg_pool2d(F.relu(self.conv1(x)), 2)
        x = F.avg_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x.flatten(1))))))


class NegativeChannelsLastFlatten(Model):
    """Flattens with the channels last."""

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.permute(0, 2, 3, 1).flatten(1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))
