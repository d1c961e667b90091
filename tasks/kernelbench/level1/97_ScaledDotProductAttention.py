"""Scaled dot-product attention.

`Model()` has no weights. `forward(Q, K, V)` takes three float32 tensors of shape `(batch, heads, length, width)` and
returns one of the same shape. For every sample and head:

    scores = Q @ K.T / sqrt(width), result = softmax(scores) @ V

The softmax runs over the keys, the last dimension of `scores`; there is no mask and no dropout. Scores of several
hundred are allowed: the row's maximum must be subtracted before the exponentials. Products and sums are float32,
neither TF32 nor half precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("attention",)
DTYPE = "float32"

PUBLISHED = dict(batch=32, heads=32, length=512, width=1024)
SCALED = dict(batch=2, heads=2, length=37, width=67)


def magnitude(Q, K, V):
    """A score's rounding error, relative to the product of the norms, is a relative error of its probability."""
    longest = torch.linalg.vector_norm(K, dim=-1, keepdim=True).amax(dim=2, keepdim=True)
    score = torch.linalg.vector_norm(Q, dim=-1, keepdim=True) * longest * Q.shape[-1] ** -0.5
    return (1 + score) * V.abs().amax(dim=(2, 3), keepdim=True)


CONTRACT = Close(scale=magnitude)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(Q, K, V)


def init_inputs():
    return []


def inputs(make, batch, heads, length, width):
    return call(*(make.floats(batch, heads, length, width) for _ in range(3)))


class PositiveOnline(Model):
    """Keys in blocks of 16 with running maximum and sum, as flash attention takes them."""

    def forward(self, Q, K, V):
        Q = Q * Q.shape[-1] ** -0.5
        top = torch.full_like(Q[..., :1], float("-inf"))
        total, result = torch.zeros_like(top), torch.zeros_like(V)
        for keys, values in zip(K.split(16, dim=2), V.split(16, dim=2), strict=True):
            scores = Q @ keys.mT
            peak = torch.maximum(top, scores.amax(dim=-1, keepdim=True))
            weights, fade = torch.exp(scores - peak), torch.exp(top - peak)
            total = fade * total + weights.sum(dim=-1, keepdim=True)
            result, top = fade * result + weights @ values, peak
        return result / total


class NegativeUnscaled(Model):
    """Forgets to divide the scores."""

    def forward(self, Q, K, V):
        return F.scaled_dot_product_attention(Q, K, V, scale=1.0)


class NegativeCausal(Model):
    """Hides later keys."""

    def forward(self, Q, K, V):
        return F.scaled_dot_product_attention(Q, K, V, is_causal=True)


class NegativeQueriesNormalised(Model):
    """Takes the softmax over the queries."""

    def forward(self, Q, K, V):
        scores = Q @ K.mT * Q.shape[-1] ** -0.5
        return torch.softmax(scores, dim=-2) @ V
