"""Swin MLP: a hierarchical vision network whose tokens mix within shifted windows by grouped perceptrons.

`Model(img_size=224, patch_size=4, in_chans=3, num_classes=1000, embed_dim=96, depths=[2, 2, 6, 2],
num_heads=[3, 6, 12, 24], window_size=7, mlp_ratio=4.0, drop_rate=0.0, drop_path_rate=0.1, norm_layer=nn.LayerNorm,
patch_norm=True, use_checkpoint=False, **kwargs)`. `drop_rate` is the probability of every dropout, 0 in this task: no
dropout takes place. `drop_path_rate`, `use_checkpoint` and further keyword arguments change nothing: there is no
stochastic depth. Layers have PyTorch's default initialisation. "Norm" is `norm_layer`, a layer norm over the last
dimension (eps 1e-5).

`forward(x)` takes images `x` of shape `(batch, in_chans, img_size, img_size)`, float32:

1. `patch_embed`: `proj`, a convolution with bias and kernel size and stride `patch_size`, to `embed_dim`; the map as
   a sequence of tokens, row by row, `(batch, tokens, embed_dim)`; `norm`, if `patch_norm`.
2. `layers`, one for each entry of `depths`. Layer `i` has tokens of `c = embed_dim · 2^i` channels on a square of
   side `r = img_size / patch_size / 2^i` and consists of `blocks`, `depths[i]` blocks, and, in all layers but the
   last, `downsample`.
3. `norm`, the mean over the tokens, and the linear layer `head` to `num_classes`.

A block with `h = num_heads[i]` heads and windows of `w = window_size` (`w = r` without a shift if `r ≤ w`) computes
`y = x + mix(norm1(x))` and returns `y + mlp(norm2(y))`.

- `mix`: The tokens form an `r × r` map. Odd blocks, counted from 0, are shifted by `s = w // 2`: the map is padded
  with zeros, `w - s` at the top and the left, `s` at the bottom and the right. It is cut into `w × w` windows.
  `spatial_mlp`, an `nn.Conv1d(h w², h w², 1, groups=h)`, maps, for each window and head, the `w²` tokens' values to
  as many new ones, alike for each of the head's `c / h` successive channels: its channel `k w² + t` is token `t` (row
  by row) of head `k`, its positions are the head's channels. The windows are put together again and the padding is
  cut off.
- `mlp`: `fc1`, `c` to `int(c · mlp_ratio)`; GELU (exact); dropout; `fc2`, back to `c`; dropout.

`downsample` halves the side: the tokens at (even row, even column), (odd, even), (even, odd), (odd, odd) of each
2 × 2 square are joined along the channels in this order, `4 c`; `norm` over these; `reduction`, a linear layer
without bias to `2 c`. (`reduction` is made first.)
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("perceptron", "vision")
DTYPE = "float32"

# The published model is the constructor's default.
PUBLISHED = dict(batch_size=10, image_size=224, channels=3, arguments=[])
SCALED = dict(
    batch_size=2, image_size=56, channels=3,
    arguments=[56, 4, 3, 43, 12, [2, 1], [3, 6], 7],
)  # fmt: skip

CONTRACT = Close()


class Mlp(nn.Module):
    """Two linear layers with a GELU between them."""

    def __init__(self, features, hidden_features, drop):
        super().__init__()
        self.fc1 = nn.Linear(features, hidden_features)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(hidden_features, features)
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        x = self.drop(self.act(self.fc1(x)))
        return self.drop(self.fc2(x))


def to_windows(x, side):
    """Cuts `(batch, height, width, channels)` into `(windows, side², channels)`."""
    x = x.unflatten(1, (-1, side)).unflatten(3, (-1, side))
    return x.transpose(2, 3).reshape(-1, side * side, x.shape[-1])


def from_windows(windows, side, height, width):
    """Puts the windows of `to_windows` together again."""
    x = windows.reshape(-1, height // side, width // side, side, side, windows.shape[-1])
    return x.transpose(2, 3).reshape(-1, height, width, windows.shape[-1])


class SwinMLPBlock(nn.Module):
    """Mixes the tokens of each window, then the channels of each token."""

    def __init__(self, dim, resolution, num_heads, window_size, shifted, mlp_ratio, drop, norm_layer):
        super().__init__()
        self.resolution = resolution
        self.num_heads = num_heads
        self.window_size = min(window_size, resolution)
        self.shift = window_size // 2 if shifted and resolution > window_size else 0
        tokens = num_heads * self.window_size**2
        self.norm1 = norm_layer(dim)
        self.spatial_mlp = nn.Conv1d(tokens, tokens, kernel_size=1, groups=num_heads)
        self.norm2 = norm_layer(dim)
        self.mlp = Mlp(dim, int(dim * mlp_ratio), drop)

    def mix(self, x):
        """`(batch, height, width, channels)`, whole windows each way."""
        height, width = x.shape[1:3]
        heads = to_windows(x, self.window_size).unflatten(2, (self.num_heads, -1))
        mixed = self.spatial_mlp(heads.transpose(1, 2).flatten(1, 2))
        mixed = mixed.unflatten(1, (self.num_heads, -1)).transpose(1, 2).flatten(2)
        return from_windows(mixed, self.window_size, height, width)

    def mix_shifted(self, x):
        before, after, side = self.window_size - self.shift, self.shift, self.resolution
        x = self.mix(F.pad(x, (0, 0, before, after, before, after)))
        return x[:, before : before + side, before : before + side]

    def forward(self, x):
        tokens = self.norm1(x).unflatten(1, (self.resolution, self.resolution))
        mixed = self.mix_shifted(tokens) if self.shift else self.mix(tokens)
        x = x + mixed.flatten(1, 2)
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Module):
    """Four neighbours become one token of twice the channels."""

    def __init__(self, resolution, dim, norm_layer):
        super().__init__()
        self.resolution = resolution
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim)

    def forward(self, x):
        x = x.unflatten(1, (self.resolution, self.resolution))
        x = torch.cat([x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)], dim=-1)
        return self.reduction(self.norm(x.flatten(1, 2)))


class BasicLayer(nn.Module):
    """Blocks at one resolution, every second one shifted."""

    def __init__(self, dim, resolution, depth, num_heads, window_size, mlp_ratio, drop, norm_layer, downsample):
        super().__init__()
        self.blocks = nn.ModuleList(
            SwinMLPBlock(dim, resolution, num_heads, window_size, i % 2 == 1, mlp_ratio, drop, norm_layer)
            for i in range(depth)
        )
        self.downsample = PatchMerging(resolution, dim, norm_layer) if downsample else nn.Identity()

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.downsample(x)


class PatchEmbed(nn.Module):
    """Cuts the image into patches and embeds them."""

    def __init__(self, patch_size, in_chans, embed_dim, norm_layer):
        super().__init__()
        self.proj = nn.Conv2d(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size)
        self.norm = nn.Identity() if norm_layer is None else norm_layer(embed_dim)

    def forward(self, x):
        return self.norm(self.proj(x).flatten(2).transpose(1, 2))


class Model(nn.Module):
    def __init__(
        self,
        img_size=224,
        patch_size=4,
        in_chans=3,
        num_classes=1000,
        embed_dim=96,
        depths=[2, 2, 6, 2],  # noqa: B006
        num_heads=[3, 6, 12, 24],  # noqa: B006
        window_size=7,
        mlp_ratio=4.0,
        drop_rate=0.0,
        drop_path_rate=0.1,
        norm_layer=nn.LayerNorm,
        patch_norm=True,
        use_checkpoint=False,
        **kwargs,
    ):
        super().__init__()
        self.patch_embed = PatchEmbed(patch_size, in_chans, embed_dim, norm_layer if patch_norm else None)
        self.pos_drop = nn.Dropout(drop_rate)
        self.layers = nn.ModuleList()
        for i, (depth, heads) in enumerate(zip(depths, num_heads, strict=True)):
            dim, resolution = embed_dim * 2**i, img_size // patch_size // 2**i
            last = i == len(depths) - 1
            self.layers.append(
                BasicLayer(dim, resolution, depth, heads, window_size, mlp_ratio, drop_rate, norm_layer, not last)
            )
        self.norm = norm_layer(dim)
        self.head = nn.Linear(dim, num_classes)

    def forward(self, x):
        x = self.pos_drop(self.patch_embed(x))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x).mean(1))


def init_inputs(arguments):
    return arguments


def inputs(make, batch_size, channels, image_size):
    return call(make.floats(batch_size, channels, image_size, image_size))


class PositiveImageByImage(Model):
    """One image after the other, without the algorithms of oneDNN and cuDNN."""

    def forward(self, x):
        with torch.backends.mkldnn.flags(enabled=False), torch.backends.cudnn.flags(enabled=False):
            return torch.cat([super(PositiveImageByImage, self).forward(image) for image in x.split(1)])


class NegativeUnshifted(Model):
    """Shifts no windows."""

    def forward(self, x):
        for layer in self.layers:
            for block in layer.blocks:
                block.shift = 0
        return super().forward(x)


class NegativeCyclicShift(Model):
    """Rolls the map instead of padding it, as the Swin transformer does."""

    def forward(self, x):
        for layer in self.layers:
            for block in layer.blocks:
                block.mix_shifted = self.rolled(block)
        return super().forward(x)

    @staticmethod
    def rolled(block):
        def mix_shifted(x):
            x = block.mix(x.roll((-block.shift, -block.shift), (1, 2)))
            return x.roll((block.shift, block.shift), (1, 2))

        return mix_shifted


class NegativeMergesInReadingOrder(Model):
    """Joins the four neighbours row by row."""

    def forward(self, x):
        for layer in self.layers[:-1]:
            merging, dim = layer.downsample, layer.downsample.norm.normalized_shape[0] // 4
            for parameter in (merging.norm.weight, merging.norm.bias, merging.reduction.weight):
                parts = parameter.data.split(dim, dim=-1)
                parameter.data = torch.cat([parts[i] for i in (0, 2, 1, 3)], dim=-1)
        return super().forward(x)


class NegativeNormBehindMean(Model):
    """Takes the mean before the last norm."""

    def forward(self, x):
        x = self.patch_embed(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x.mean(1)))
