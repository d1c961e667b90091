"""NetVLAD without ghost clusters: residuals to learned centres, summed with soft weights.

`Model(cluster_size, feature_size, ghost_clusters)`; with `K = cluster_size`, `D = feature_size` and
`G = ghost_clusters`, which is 0 in this task, it has, made in this order with `s = 1 / sqrt(D)`,

- `clusters`, a parameter `s · torch.randn(D, K + G)`;
- `batch_norm`, an `nn.BatchNorm1d(K + G)`;
- `clusters2`, the centres, a parameter `s · torch.randn(1, D, K)`.

`forward(x, mask=None)` takes `x` of shape `(batch, n, D)`, float32; `mask` is not used. For every descriptor, a row
of `x`:

1. `batch_norm(x @ clusters)`, over all `batch · n` descriptors: `(batch · n, K + G)`; softmax over the clusters gives
   the descriptor's weights `a`. (Of more than `K` clusters the last `G`, the ghosts, would be dropped here.)
2. `vlad[b, d, k]` is the sum over the descriptors `i` of image `b` of
   `a[b, i, k] · (x[b, i, d] - clusters2[0, d, k])`.
3. Each `vlad[b, :, k]` is divided by its Euclidean norm (at least 1e-12).
4. The result is flattened, `d`-major, to `(batch, D · K)`, and each row divided by its Euclidean norm (at least
   1e-12).

Batch norm (eps 1e-5, weight and bias per cluster) is in training mode: it normalises by the mean and the biased
variance over the `batch · n` descriptors of the very call, and never by the running statistics.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("reduction", "matmul")
DTYPE = "float32"

PUBLISHED = dict(batch_size=2048, descriptors=100, cluster_size=32, feature_size=512, ghost_clusters=0)
SCALED = dict(batch_size=5, descriptors=19, cluster_size=7, feature_size=37, ghost_clusters=0)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, cluster_size, feature_size, ghost_clusters):
        super().__init__()
        self.cluster_size = cluster_size
        scale = feature_size**-0.5
        self.clusters = nn.Parameter(scale * torch.randn(feature_size, cluster_size + ghost_clusters))
        self.batch_norm = nn.BatchNorm1d(cluster_size + ghost_clusters)
        self.clusters2 = nn.Parameter(scale * torch.randn(1, feature_size, cluster_size))

    def assign(self, x):
        """The weights of the real clusters, `(batch, n, K)`."""
        scores = self.batch_norm(x.flatten(0, 1) @ self.clusters)
        weights = F.softmax(scores, dim=1)[:, : self.cluster_size]
        return weights.unflatten(0, x.shape[:2])

    def forward(self, x, mask=None):
        weights = self.assign(x)
        centres = weights.sum(dim=1, keepdim=True) * self.clusters2
        vlad = x.transpose(1, 2) @ weights - centres
        vlad = F.normalize(vlad, dim=1)
        return F.normalize(vlad.flatten(1), dim=1)


def init_inputs(cluster_size, feature_size, ghost_clusters):
    return [cluster_size, feature_size, ghost_clusters]


def inputs(make, batch_size, descriptors, feature_size):
    return call(make.floats(batch_size, descriptors, feature_size))


class PositiveResiduals(Model):
    """Residuals first, then their weighted sum; the last norm is the root of the number of filled clusters."""

    def forward(self, x, mask=None):
        images = zip(x.split(16), self.assign(x).split(16), strict=True)
        vlad = torch.cat(
            [torch.einsum("bik,bidk->bdk", a, d.unsqueeze(3) - self.clusters2[:, None]) for d, a in images]
        )
        norms = vlad.square().sum(1, keepdim=True).sqrt()
        filled = (norms > 0).sum(2, keepdim=True)
        return (vlad / norms.clamp(min=1e-12) / filled.clamp(min=1).sqrt()).flatten(1)


class NegativeNoCentres(Model):
    """Sums the descriptors instead of their residuals."""

    def forward(self, x, mask=None):
        vlad = F.normalize(x.transpose(1, 2) @ self.assign(x), dim=1)
        return F.normalize(vlad.flatten(1), dim=1)


class NegativeSoftmaxOverDescriptors(Model):
    """Takes the softmax over each image's descriptors."""

    def assign(self, x):
        scores = self.batch_norm(x.flatten(0, 1) @ self.clusters)
        return F.softmax(scores.unflatten(0, x.shape[:2]), dim=1)


class NegativeOneNorm(Model):
    """Leaves the norm of each cluster out."""

    def forward(self, x, mask=None):
        weights = self.assign(x)
        vlad = x.transpose(1, 2) @ weights - weights.sum(dim=1, keepdim=True) * self.clusters2
        return F.normalize(vlad.flatten(1), dim=1)


class NegativeClusterMajor(Model):
    """Flattens with the clusters in front."""

    def forward(self, x, mask=None):
        return super().forward(x).unflatten(1, (-1, self.cluster_size)).transpose(1, 2).flatten(1)


class NegativeRunningStatistics(Model):
    """Normalises by the running statistics, as in evaluation."""

    def forward(self, x, mask=None):
        self.eval()
        return super().forward(x)
