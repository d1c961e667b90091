"""AlexNet, a convolutional classifier.

`Model(num_classes=1000)`: convolutions and linear layers have a bias and PyTorch's default initialisation. For `x` of
shape `(batch, 3, 224, 224)`, float32 (any side from 223 to 226 leads to 6 × 6 maps), `forward(x)` computes

| step | result |
|---|---|
| `conv1` 3 to 96, 11 × 11, stride 4, padding 2; ReLU; maximum pooling 3 × 3, stride 2 | `(batch, 96, 27, 27)` |
| `conv2` 96 to 256, 5 × 5, padding 2; ReLU; maximum pooling 3 × 3, stride 2 | `(batch, 256, 13, 13)` |
| `conv3` 256 to 384, 3 × 3, padding 1; ReLU | `(batch, 384, 13, 13)` |
| `conv4` 384 to 384, 3 × 3, padding 1; ReLU | `(batch, 384, 13, 13)` |
| `conv5` 384 to 256, 3 × 3, padding 1; ReLU; maximum pooling 3 × 3, stride 2 | `(batch, 256, 6, 6)` |
| flattened; `fc1` 9216 to 4096; ReLU; dropout | `(batch, 4096)` |
| `fc2` 4096 to 4096; ReLU; dropout | `(batch, 4096)` |
| `fc3` 4096 to `num_classes` | `(batch, num_classes)` |

Both dropouts have probability 0 and change nothing. There is no local response normalisation.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, image_size=224, num_classes=1000)
SCALED = dict(batch_size=1, image_size=223, num_classes=43)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 96, kernel_size=11, stride=4, padding=2)
        self.conv2 = nn.Conv2d(96, 256, kernel_size=5, padding=2)
        self.conv3 = nn.Conv2d(256, 384, kernel_size=3, padding=1)
        self.conv4 = nn.Conv2d(384, 384, kernel_size=3, padding=1)
        self.conv5 = nn.Conv2d(384, 256, kernel_size=3, padding=1)
        self.pool = nn.MaxPool2d(kernel_size=3, stride=2)
        self.fc1 = nn.Linear(256 * 6 * 6, 4096)
        self.fc2 = nn.Linear(4096, 4096)
        self.fc3 = nn.Linear(4096, num_classes)
        self.dropout = nn.Dropout(p=0.0)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = F.relu(self.conv3(x))
        x = F.relu(self.conv4(x))
        x = self.pool(F.relu(self.conv5(x)))
        x = torch.flatten(x, 1)
        x = self.dropout(F.relu(self.fc1(x)))
        x = self.dropout(F.relu(self.fc2(x)))
        return self.fc3(x)


def init_inputs(num_classes):
    return [num_classes]


def inputs(make, batch_size, image_size):
    return call(make.floats(batch_size, 3, image_size, image_size))


class NegativePaddingLeftOut(Model):
    """Convolves the third layer without padding and pads the result with zeros."""

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = F.pad(F.relu(F.conv2d(x, self.conv3.weight, self.conv3.bias)), (1, 1, 1, 1))
        x = self.pool(F.relu(self.conv5(F.relu(self.conv4(x)))))
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x.flatten(1))))))


class NegativeNoLastActivation(Model):
    """Leaves the ReLU between the last two linear layers out."""

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = self.pool(F.relu(self.conv5(F.relu(self.conv4(F.relu(self.conv3(x)))))))
        return self.fc3(self.fc2(F.relu(self.fc1(x.flatten(1)))))
