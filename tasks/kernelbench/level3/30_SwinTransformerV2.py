"""Swin transformer, version 2: attention by cosines within shifted windows, norms behind each branch.

`Model(img_size=224, patch_size=4, in_chans=3, num_classes=1000, embed_dim=96, depths=[2, 2, 6, 2],
num_heads=[3, 6, 12, 24], window_size=7, mlp_ratio=4.0, qkv_bias=True, drop_rate=0.0, attn_drop_rate=0.0,
drop_path_rate=0.1, norm_layer=nn.LayerNorm, patch_norm=True, use_checkpoint=False,
pretrained_window_sizes=[0, 0, 0, 0], **kwargs)`. `drop_rate` and `attn_drop_rate` are probabilities of dropout, 0 in
this task: no dropout takes place. `drop_path_rate`, `use_checkpoint` and further keyword arguments change nothing:
there is no stochastic depth. Layers have PyTorch's default initialisation unless another is named. "Norm" is
`norm_layer`, a layer norm over the last dimension (eps 1e-5).

`forward(x)` takes images `x` of shape `(batch, in_chans, img_size, img_size)`, float32:

1. `patch_embed`: `proj`, a convolution with bias and kernel size and stride `patch_size`, to `embed_dim`; the map as
   a sequence of tokens, row by row, `(batch, tokens, embed_dim)`; `norm`, if `patch_norm`.
2. `layers`, one for each entry of `depths`. Layer `i` has tokens of `c = embed_dim · 2^i` channels on a square of
   side `r = img_size / patch_size / 2^i` and consists of `blocks`, `depths[i]` blocks, and, in all layers but the
   last, `downsample`.
3. `norm`, the mean over the tokens, and the linear layer `head` to `num_classes`.

A block with `h = num_heads[i]` heads and windows of `w = window_size` (`w = r` without a shift if `r ≤ w`) computes
`y = x + norm1(attention(x))` and returns `y + norm2(mlp(y))`. `mlp`: `fc1`, `c` to `int(c · mlp_ratio)`; GELU
(exact); dropout; `fc2`, back to `c`; dropout.

Attention: The tokens form an `r × r` map. Odd blocks, counted from 0, roll it by `s = w // 2` up and to the left,
cyclically, and roll the result back. The map is cut into `w × w` windows, and tokens attend to tokens of their own
window only:

- `qkv`, a linear layer without bias, `c` to `3 c`, plus `q_bias`, zeros, `v_bias` (parameters of zeros, if
  `qkv_bias`), gives queries, keys and values in this order; head `k` takes `c / h` successive channels of each.
- The score of a query and a key is their cosine (norms of at least 1e-12) times `exp(min(logit_scale, log 100))`,
  plus a bias. `logit_scale` is a parameter `(h, 1, 1)` of `log 10`.
- The bias is `16 · sigmoid(cpb_mlp(u))`, where `cpb_mlp` is a sequence of a linear layer 2 to 512, a ReLU and a
  linear layer 512 to `h` without bias, and `u` is the offset (query's row - key's row, query's column - key's
  column), each component `o` scaled to `v = 8 o / (w - 1)` (`pretrained_window_sizes[i] - 1` if that size is not 0)
  and then `sign(v) log2(|v| + 1) / log2 8`. The buffers `relative_coords_table`, `(1, 2 w - 1, 2 w - 1, 2)`, and
  `relative_position_index`, `(w², w²)`, hold `u` of all offsets and each pair's place.
- In rolled maps -100 is added where query and key were not neighbours before: the map's rows fall into three
  stretches, `r - w`, `w - s` and `s` long, its columns likewise, and only tokens of the same stretches belong
  together. The buffer `attn_mask`, `(windows, w², w²)`, holds these summands.
- Softmax over the keys, the values' weighted sums, the heads side by side again, and the linear layer `proj`.

`downsample` halves the side: the tokens at (even row, even column), (odd, even), (even, odd), (odd, odd) of each
2 × 2 square are joined along the channels in this order, `4 c`; `reduction`, a linear layer without bias to `2 c`;
`norm` over these.

Modules are made in the order in which they are used; in an attention `logit_scale` and `cpb_mlp` come before `qkv`.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("attention", "vision")
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


class WindowAttention(nn.Module):
    """Attention by cosines, with a bias that depends continuously on the offset between query and key."""

    def __init__(self, dim, window_size, num_heads, qkv_bias, attn_drop, proj_drop, pretrained_window_size):
        super().__init__()
        self.num_heads = num_heads
        self.logit_scale = nn.Parameter(torch.full((num_heads, 1, 1), math.log(10.0)))
        self.cpb_mlp = nn.Sequential(nn.Linear(2, 512), nn.ReLU(inplace=True), nn.Linear(512, num_heads, bias=False))
        self.register_buffer("relative_coords_table", self.offsets(window_size, pretrained_window_size))
        self.register_buffer("relative_position_index", self.pairs(window_size))
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.q_bias = nn.Parameter(torch.zeros(dim)) if qkv_bias else None
        self.v_bias = nn.Parameter(torch.zeros(dim)) if qkv_bias else None
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)
        self.proj_drop = nn.Dropout(proj_drop)

    @staticmethod
    def offsets(side, pretrained_side):
        """All offsets between two tokens of a window, on a logarithmic scale."""
        steps = torch.arange(1 - side, side, dtype=torch.float32)
        scaled = 8 * steps / ((pretrained_side or side) - 1)
        scaled = torch.sign(scaled) * torch.log2(scaled.abs() + 1) / math.log2(8)
        return torch.stack(torch.meshgrid(scaled, scaled, indexing="ij"), dim=-1).unsqueeze(0)

    @staticmethod
    def pairs(side):
        """For each query and key the place of their offset in the flattened table."""
        rows, columns = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
        rows, columns = rows.flatten(), columns.flatten()
        row_offset = rows[:, None] - rows + side - 1
        column_offset = columns[:, None] - columns + side - 1
        return row_offset * (2 * side - 1) + column_offset

    def forward(self, x, mask):
        projected = self.qkv(x)
        if self.q_bias is not None:
            projected = projected + torch.cat([self.q_bias, torch.zeros_like(self.v_bias), self.v_bias])
        q, k, v = (t.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for t in projected.chunk(3, dim=2))
        scores = self.scores(q, k) + self.position_bias()
        if mask is not None:
            scores = (scores.unflatten(0, (-1, len(mask))) + mask[:, None]).flatten(0, 1)
        weights = self.attn_drop(F.softmax(scores, dim=-1))
        return self.proj_drop(self.proj((weights @ v).transpose(1, 2).flatten(2)))

    def scores(self, q, k):
        cosines = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        return cosines * self.logit_scale.clamp(max=math.log(100.0)).exp()

    def position_bias(self):
        """`(heads, queries, keys)`."""
        table = self.cpb_mlp(self.relative_coords_table).flatten(0, 2)
        return 16 * torch.sigmoid(table[self.relative_position_index].permute(2, 0, 1))


class SwinTransformerBlock(nn.Module):
    """Attention within windows, then a perceptron, each with its norm behind it."""

    def __init__(
        self,
        dim,
        resolution,
        num_heads,
        window_size,
        shifted,
        mlp_ratio,
        qkv_bias,
        drop,
        attn_drop,
        norm_layer,
        pretrained_window_size,
    ):
        super().__init__()
        self.resolution = resolution
        self.window_size = min(window_size, resolution)
        self.shift = window_size // 2 if shifted and resolution > window_size else 0
        self.norm1 = norm_layer(dim)
        self.attn = WindowAttention(dim, self.window_size, num_heads, qkv_bias, attn_drop, drop, pretrained_window_size)
        self.norm2 = norm_layer(dim)
        self.mlp = Mlp(dim, int(dim * mlp_ratio), drop)
        self.register_buffer("attn_mask", self.mask() if self.shift else None)

    def mask(self):
        """-100 for each pair of a window's tokens that only the roll has made neighbours."""
        stretch = torch.zeros(self.resolution)
        stretch[-self.window_size :] = 1
        stretch[-self.shift :] = 2
        region = 3 * stretch[:, None] + stretch
        regions = to_windows(region[None, :, :, None], self.window_size).squeeze(2)
        return -100.0 * (regions[:, :, None] != regions[:, None, :])

    def attend(self, x):
        x = x.unflatten(1, (self.resolution, self.resolution)).roll((-self.shift, -self.shift), (1, 2))
        attended = self.attn(to_windows(x, self.window_size), self.attn_mask)
        x = from_windows(attended, self.window_size, self.resolution, self.resolution)
        return x.roll((self.shift, self.shift), (1, 2)).flatten(1, 2)

    def forward(self, x):
        x = x + self.norm1(self.attend(x))
        return x + self.norm2(self.mlp(x))


class PatchMerging(nn.Module):
    """Four neighbours become one token of twice the channels."""

    def __init__(self, resolution, dim, norm_layer):
        super().__init__()
        self.resolution = resolution
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(2 * dim)

    def forward(self, x):
        x = x.unflatten(1, (self.resolution, self.resolution))
        x = torch.cat([x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)], dim=-1)
        return self.norm(self.reduction(x.flatten(1, 2)))


class PatchEmbed(nn.Module):
    """Cuts the image into patches and embeds them."""

    def __init__(self, patch_size, in_chans, embed_dim, norm_layer):
        super().__init__()
        self.proj = nn.Conv2d(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size)
        self.norm = nn.Identity() if norm_layer is None else norm_layer(embed_dim)

    def forward(self, x):
        return self.norm(self.proj(x).flatten(2).transpose(1, 2))


class BasicLayer(nn.Module):
    """Blocks at one resolution, every second one shifted."""

    def __init__(self, dim, resolution, depth, norm_layer, downsample, **options):
        super().__init__()
        self.blocks = nn.ModuleList(
            SwinTransformerBlock(dim, resolution, shifted=i % 2 == 1, norm_layer=norm_layer, **options)
            for i in range(depth)
        )
        self.downsample = PatchMerging(resolution, dim, norm_layer) if downsample else nn.Identity()

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.downsample(x)


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
        qkv_bias=True,
        drop_rate=0.0,
        attn_drop_rate=0.0,
        drop_path_rate=0.1,
        norm_layer=nn.LayerNorm,
        patch_norm=True,
        use_checkpoint=False,
        pretrained_window_sizes=[0, 0, 0, 0],  # noqa: B006
        **kwargs,
    ):
        super().__init__()
        self.patch_embed = PatchEmbed(patch_size, in_chans, embed_dim, norm_layer if patch_norm else None)
        self.pos_drop = nn.Dropout(drop_rate)
        self.layers = nn.ModuleList(
            BasicLayer(
                dim=embed_dim * 2**i,
                resolution=img_size // patch_size // 2**i,
                depth=depth,
                norm_layer=norm_layer,
                downsample=i < len(depths) - 1,
                num_heads=num_heads[i],
                window_size=window_size,
                mlp_ratio=mlp_ratio,
                qkv_bias=qkv_bias,
                drop=drop_rate,
                attn_drop=attn_drop_rate,
                pretrained_window_size=pretrained_window_sizes[i],
            )
            for i, depth in enumerate(depths)
        )
        width = embed_dim * 2 ** (len(depths) - 1)
        self.norm = norm_layer(width)
        self.head = nn.Linear(width, num_classes)

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


class _Changed(Model):
    """Changes every block before the first step."""

    def forward(self, x):
        for layer in self.layers:
            for block in layer.blocks:
                self.change(block)
        return super().forward(x)


class NegativeUnmasked(_Changed):
    """Lets the tokens attend to neighbours that only the roll has made."""

    @staticmethod
    def change(block):
        block.attn_mask = None


class NegativeUnshifted(_Changed):
    """Shifts no windows."""

    @staticmethod
    def change(block):
        block.shift, block.attn_mask = 0, None


class NegativeNormsInFront(_Changed):
    """Normalises before attention and perceptron, as the first version does."""

    @staticmethod
    def change(block):
        def forward(x):
            x = x + block.attend(block.norm1(x))
            return x + block.mlp(block.norm2(x))

        block.forward = forward


class NegativePlainProducts(_Changed):
    """Scales products by the root of the channels instead of taking cosines."""

    @staticmethod
    def change(block):
        block.attn.scores = lambda q, k: q @ k.mT * q.shape[-1] ** -0.5


class NegativeNoPositionBias(_Changed):
    """Leaves the bias of the offsets out."""

    @staticmethod
    def change(block):
        block.attn.position_bias = lambda: 0
