"""Convolutional vision transformer: one token for the whole image, and a class token.

`Model(num_classes, embed_dim=512, num_heads=8, num_layers=6, mlp_ratio=4.0, patch_size=4, in_channels=3,
image_size=32)` has

- `conv1`, a convolution from `in_channels` to `embed_dim` with kernel size and stride `patch_size`, and a bias;
- `linear_proj`, a linear layer from `embed_dim · (image_size // patch_size)²` to `embed_dim`;
- `transformer_layers`, an `nn.ModuleList` of `num_layers` layers `nn.TransformerEncoderLayer` of `embed_dim`
  channels, `num_heads` heads, `int(embed_dim · mlp_ratio)` hidden channels, dropout 0 and `batch_first=True`, all
  other options at PyTorch's defaults: norms after the sums, activation ReLU;
- `cls_token`, a parameter `(1, 1, embed_dim)` of zeros;
- `fc_out`, a linear layer from `embed_dim` to `num_classes`.

Layers have PyTorch's default initialisation.

`forward(x)` takes images of shape `(batch, in_channels, image_size, image_size)`, float32:

1. `conv1`; flattened, channel-major, to one row for each image; `linear_proj`: `(batch, embed_dim)`.
2. The sequence `cls_token`, image token: `(batch, 2, embed_dim)`. Each layer attends over these two tokens of each
   image.
3. `fc_out` of the class token: `(batch, num_classes)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("attention", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=10, image_size=32, num_classes=1000, embed_dim=128, num_heads=4)
SCALED = dict(batch_size=3, image_size=32, num_classes=43, embed_dim=20, num_heads=4)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(
        self,
        num_classes,
        embed_dim=512,
        num_heads=8,
        num_layers=6,
        mlp_ratio=4.0,
        patch_size=4,
        in_channels=3,
        image_size=32,
    ):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, embed_dim, kernel_size=patch_size, stride=patch_size)
        self.linear_proj = nn.Linear(embed_dim * (image_size // patch_size) ** 2, embed_dim)
        self.transformer_layers = nn.ModuleList(
            nn.TransformerEncoderLayer(embed_dim, num_heads, int(embed_dim * mlp_ratio), dropout=0.0, batch_first=True)
            for _ in range(num_layers)
        )
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.fc_out = nn.Linear(embed_dim, num_classes)

    def embed(self, x):
        image = self.linear_proj(torch.flatten(self.conv1(x), 1))
        return torch.cat([self.cls_token.expand(len(x), -1, -1), image[:, None]], dim=1)

    def forward(self, x):
        x = self.embed(x)
        for layer in self.transformer_layers:
            x = layer(x)
        return self.fc_out(x[:, 0])


def init_inputs(num_classes, embed_dim, num_heads):
    return [num_classes, embed_dim, num_heads]


def inputs(make, batch_size, image_size):
    return call(make.floats(batch_size, 3, image_size, image_size))


class PositiveTwoTokens(Model):
    """A softmax over two scores is the logistic function of their difference."""

    def forward(self, x):
        size = self.conv1.kernel_size[0]
        patches = F.unfold(x, size, stride=size)
        maps = self.conv1.weight.flatten(1) @ patches + self.conv1.bias[:, None]
        image = self.linear_proj(maps.flatten(1))
        x = torch.stack([self.cls_token[0].expand_as(image), image], dim=1)
        for layer in self.transformer_layers:
            attention = layer.self_attn
            projected = x @ attention.in_proj_weight.T + attention.in_proj_bias
            q, k, v = (t.unflatten(2, (attention.num_heads, -1)) for t in projected.chunk(3, dim=2))
            difference = (q * (k[:, 1:] - k[:, :1])).sum(-1, keepdim=True) * attention.head_dim**-0.5
            attended = v[:, :1] + torch.sigmoid(difference) * (v[:, 1:] - v[:, :1])
            x = layer.norm1(x + attention.out_proj(attended.flatten(2)))
            x = layer.norm2(x + layer.linear2(layer.linear1(x).relu()))
        return self.fc_out(x[:, 0])


class NegativeAcrossImages(Model):
    """Attends over the images of the batch, the default of PyTorch's layer."""

    def forward(self, x):
        x = self.embed(x).transpose(0, 1)
        for layer in self.transformer_layers:
            x = layer(x)
        return self.fc_out(x[0])


class NegativeChannelsLastFlatten(Model):
    """Flattens the convolution's result with the channels last."""

    def forward(self, x):
        image = self.linear_proj(self.conv1(x).permute(0, 2, 3, 1).flatten(1))
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), image[:, None]], dim=1)
        for layer in self.transformer_layers:
            x = layer(x)
        return self.fc_out(x[:, 0])


class NegativeImageToken(Model):
    """Reads the result from the image's token."""

    def forward(self, x):
        x = self.embed(x)
        for layer in self.transformer_layers:
            x = layer(x)
        return self.fc_out(x[:, 1])
