"""Vision transformer whose encoder attends across the images of a batch.

`Model(image_size, patch_size, num_classes, dim, depth, heads, mlp_dim, channels=3, dropout=0.1, emb_dropout=0.1)`.
With `n = (image_size / patch_size)²` and `p = channels · patch_size²` it has

- `pos_embedding`, a parameter `torch.randn(1, n + 1, dim)`; `patch_to_embedding`, a linear layer from `p` to `dim`;
  `cls_token`, a parameter `torch.randn(1, 1, dim)`; made in this order;
- `transformer`, an `nn.TransformerEncoder` of `depth` copies of
  `nn.TransformerEncoderLayer(dim, heads, mlp_dim, dropout)` with all other options at PyTorch's defaults: the norms
  follow the sums, the activation is a ReLU, and **the first dimension is the sequence** (`batch_first=False`);
- `mlp_head`: linear, `dim` to `mlp_dim`; GELU (exact); dropout; linear, `mlp_dim` to `num_classes`.

Both dropout probabilities are 0 in this task: no dropout takes place.

`forward(img)` takes images of shape `(batch, channels, image_size, image_size)`, float32:

1. Each channel is cut into patches: the image becomes `(batch, channels, rows, columns, patch_size, patch_size)`, and
   this, in the order of its elements, `(batch, n, p)`. The channels are not moved to the patches: a row of `p`
   numbers holds `channels` successive patches of the sequence of all channels' patches.
2. `patch_to_embedding`; `cls_token` joined in front: `(batch, n + 1, dim)`; `pos_embedding` added.
3. `transformer` on this tensor as it is: the layers attend along its first dimension, over the images, separately for
   each of the `n + 1` positions.
4. `mlp_head` of position 0: `(batch, num_classes)`.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("attention", "vision", "degenerate")
DTYPE = "float32"

PUBLISHED = dict(
    batch_size=2, image_size=224, patch_size=16, num_classes=10,
    dim=512, depth=6, heads=8, mlp_dim=2048, channels=3, dropout=0.0, emb_dropout=0.0,
)  # fmt: skip
SCALED = dict(
    batch_size=3, image_size=28, patch_size=7, num_classes=10,
    dim=24, depth=3, heads=4, mlp_dim=37, channels=3, dropout=0.0, emb_dropout=0.0,
)  # fmt: skip

CONTRACT = Close()


class Model(nn.Module):
    def __init__(
        self,
        image_size,
        patch_size,
        num_classes,
        dim,
        depth,
        heads,
        mlp_dim,
        channels=3,
        dropout=0.1,
        emb_dropout=0.1,
    ):
        super().__init__()
        num_patches = (image_size // patch_size) ** 2
        self.patch_size = patch_size
        self.patch_dim = channels * patch_size**2
        self.pos_embedding = nn.Parameter(torch.randn(1, num_patches + 1, dim))
        self.patch_to_embedding = nn.Linear(self.patch_dim, dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.dropout = nn.Dropout(emb_dropout)
        layer = nn.TransformerEncoderLayer(dim, heads, mlp_dim, dropout)
        self.transformer = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.mlp_head = nn.Sequential(
            nn.Linear(dim, mlp_dim),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(mlp_dim, num_classes),
        )

    def embed(self, img):
        size = self.patch_size
        patches = img.unfold(2, size, size).unfold(3, size, size).reshape(len(img), -1, self.patch_dim)
        tokens = torch.cat([self.cls_token.expand(len(img), -1, -1), self.patch_to_embedding(patches)], dim=1)
        return self.dropout(tokens + self.pos_embedding)

    def forward(self, img):
        x = self.transformer(self.embed(img))
        return self.mlp_head(x[:, 0])


def init_inputs(image_size, patch_size, num_classes, dim, depth, heads, mlp_dim, channels, dropout, emb_dropout):
    return [image_size, patch_size, num_classes, dim, depth, heads, mlp_dim, channels, dropout, emb_dropout]


def inputs(make, batch_size, channels, image_size):
    return call(make.floats(batch_size, channels, image_size, image_size))


class PositiveUnfused(Model):
    """Each encoder layer written out, head by head."""

    def forward(self, img):
        x = self.embed(img)
        for layer in self.transformer.layers:
            x = layer.norm1(x + self.attend(layer.self_attn, x))
            x = layer.norm2(x + layer.linear2(layer.linear1(x).clamp(min=0)))
        return self.mlp_head(x[:, 0])

    @staticmethod
    def attend(attention, x):
        projected = x @ attention.in_proj_weight.T + attention.in_proj_bias
        heads = []
        for q, k, v in zip(*(t.chunk(attention.num_heads, -1) for t in projected.chunk(3, -1)), strict=True):
            scores = torch.einsum("ind,jnd->nij", q, k) * attention.head_dim**-0.5
            weights = (scores - scores.amax(-1, keepdim=True)).exp()
            heads.append(torch.einsum("nij,jnd->ind", weights / weights.sum(-1, keepdim=True), v))
        return attention.out_proj(torch.cat(heads, -1))


class NegativeAttendsOverPatches(Model):
    """Attends over the positions of each image, as the architecture usually does."""

    def forward(self, img):
        x = self.transformer(self.embed(img).transpose(0, 1)).transpose(0, 1)
        return self.mlp_head(x[:, 0])


class NegativeLinearHead(Model):
    """Leaves the head's activation out."""

    def forward(self, img):
        x = self.transformer(self.embed(img))
        return self.mlp_head[3](self.mlp_head[0](x[:, 0]))


class NegativeNoClassPosition(Model):
    """Adds position embeddings to the patches only."""

    def forward(self, img):
        x = self.embed(img)
        x = torch.cat([x[:, :1] - self.pos_embedding[:, :1], x[:, 1:]], dim=1)
        return self.mlp_head(self.transformer(x)[:, 0])
