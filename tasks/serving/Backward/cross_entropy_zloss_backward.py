"""Gradient of the cross-entropy over a large vocabulary with ignored positions and z-loss.

`cross_entropy_zloss_backward(grad_loss, logits, target, lse, ignore_index=-100, z_weight=1e-4)` returns the gradient of `logits`, bfloat16 `(T, V)`.

The forward was `loss = (sum over positions with target[t] ≠ ignore_index of lse[t] − logits[t, target[t]] + z_weight · lse[t]²) / n` with
`lse[t] = log(sum over v of exp(logits[t, v]))` and `n` the number of such positions, at least 1. So, with `p[t, v] = exp(logits[t, v] − lse[t])`,

    grad[t, v] = grad_loss / n · ((1 + 2 · z_weight · lse[t]) · p[t, v] − (1 where v == target[t])),      and 0 where target[t] == ignore_index.

- `grad_loss` is a float32 tensor without dimensions, `logits` bfloat16 `(T, V)`, `target` int64 `(T,)` with values in `[0, V)` or equal to
  `ignore_index`, `lse` float32 `(T,)`; all are contiguous, `T ≥ 1`. The result is new and contiguous; `logits` must not be overwritten.
- The arithmetic is float32, rounded once.

Sizes: as `cross_entropy_zloss`: vocabularies of Llama 3.1 (128256), Qwen2.5 (152064), Mixtral 8x7B (32000), DeepSeek-V3 (129280) and Mamba-2.8B
(50280), after their model cards. Weights are in proportion to the elements.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "bfloat16"
TAGS = ("backward", "loss", "softmax", "memory-bound", "training")

CASES = [
    dict(tokens=37, vocabulary=45),
    dict(tokens=131, vocabulary=257, ignored=0.3),
    dict(tokens=3, vocabulary=5000),
    dict(tokens=1, vocabulary=16),
    dict(tokens=19, vocabulary=1031, ignored=0.5, z_weight=0.05),
    dict(tokens=67, vocabulary=300, ignored=1.0),
    dict(tokens=33, vocabulary=129, ignored=0.2, ignore_index=0),
    dict(tokens=8, vocabulary=2049, z_weight=0.0),
    dict(tokens=515, vocabulary=17, ignored=0.1, ignore_index=-1, z_weight=0.05),
]

SIZES = [
    dict(tokens=4096, vocabulary=32000, ignored=0.1),
    dict(tokens=4096, vocabulary=50280, ignored=0.1),
    dict(tokens=2048, vocabulary=128256, ignored=0.1),
    dict(tokens=2048, vocabulary=152064, ignored=0.1),
    dict(tokens=4096, vocabulary=129280, ignored=0.1),
    dict(tokens=8192, vocabulary=128256, ignored=0.5),
]
WEIGHTS = [1.3, 2.1, 2.6, 3.1, 5.3, 8]

CONTRACT = Close(strides="contiguous")


def cross_entropy_zloss_backward(
    grad_loss, logits, target, lse, ignore_index: int = -100, z_weight: float = 1e-4
):  # fmt: skip
    kept = target != ignore_index
    p = (logits.to(lse.dtype) - lse[:, None]).exp()
    grad = p * (1 + 2 * z_weight * lse)[:, None]
    grad.scatter_add_(1, torch.where(kept, target, 0)[:, None], torch.full_like(grad[:, :1], -1))
    factor = torch.where(kept, grad_loss / kept.sum().clamp(min=1), 0)
    return (grad * factor[:, None]).to(logits.dtype)


def inputs(make, tokens, vocabulary, ignored=0.0, ignore_index=-100, z_weight=1e-4):
    logits, target = make.floats(tokens, vocabulary), make.ints(tokens, low=0, high=vocabulary)
    if ignored:
        target = target.masked_fill(make.bools(tokens, p=ignored), ignore_index)
    lse = torch.logsumexp(logits.float(), 1)
    grad_loss = make.plain(dtype=torch.float32, low=0.5, high=2.0)
    return call(grad_loss, logits, target, lse, ignore_index=ignore_index, z_weight=z_weight)


def _gradient(grad_loss, logits, target, lse, ignore_index, z_weight, count=None):
    """As the reference, in other steps; `count` in place of the number of positions that are not ignored."""
    kept = target != ignore_index
    hot = torch.arange(logits.shape[1], device=logits.device) == torch.where(kept, target, 0)[:, None]
    p = torch.exp2((logits.float() - lse[:, None]) * 1.4426950408889634)
    factor = kept * grad_loss / (kept.sum().clamp(min=1) if count is None else count)
    return factor[:, None] * (p + 2 * z_weight * lse[:, None] * p - hot.float())


def positive_base_two(grad_loss, logits, target, lse, ignore_index=-100, z_weight=1e-4):
    """Exponentials of base two, and the gradients of both parts of the loss added up."""
    return _gradient(grad_loss, logits, target, lse, ignore_index, z_weight).to(logits.dtype)


def negative_mean_over_all(grad_loss, logits, target, lse, ignore_index=-100, z_weight=1e-4):
    """Counts ignored positions."""
    return _gradient(grad_loss, logits, target, lse, ignore_index, z_weight, target.numel()).to(logits.dtype)


def negative_sum_in_place_of_mean(grad_loss, logits, target, lse, ignore_index=-100, z_weight=1e-4):
    return _gradient(grad_loss, logits, target, lse, ignore_index, z_weight, 1).to(logits.dtype)


def negative_no_gradient_of_loss(grad_loss, logits, target, lse, ignore_index=-100, z_weight=1e-4):
    """Takes `grad_loss` for 1."""
    return _gradient(1, logits, target, lse, ignore_index, z_weight).to(logits.dtype)


def negative_no_z_loss(grad_loss, logits, target, lse, ignore_index=-100, z_weight=1e-4):
    return _gradient(grad_loss, logits, target, lse, ignore_index, 0.0).to(logits.dtype)


def negative_half_of_z_loss(grad_loss, logits, target, lse, ignore_index=-100, z_weight=1e-4):
    """Forgets the 2 of a square's derivative."""
    return _gradient(grad_loss, logits, target, lse, ignore_index, z_weight / 2).to(logits.dtype)


def negative_target_not_subtracted(grad_loss, logits, target, lse, ignore_index=-100, z_weight=1e-4):
    kept = target != ignore_index
    factor = kept * grad_loss / kept.sum().clamp(min=1)
    p = (logits.float() - lse[:, None]).exp()
    return (factor[:, None] * p * (1 + 2 * z_weight * lse)[:, None]).to(logits.dtype)


def negative_target_inside_z_factor(grad_loss, logits, target, lse, ignore_index=-100, z_weight=1e-4):
    """Multiplies the one at the target, too."""
    factor = (1 + 2 * z_weight * lse)[:, None]
    return (_gradient(grad_loss, logits, target, lse, ignore_index, 0.0) * factor).to(logits.dtype)


def negative_ignored_rows_kept(grad_loss, logits, target, lse, ignore_index=-100, z_weight=1e-4):
    """Gives ignored positions the gradient of the logarithm of their sum."""
    right = _gradient(grad_loss, logits, target, lse, ignore_index, z_weight)
    kept = (target != ignore_index)[:, None]
    p = (logits.float() - lse[:, None]).exp() * grad_loss / kept.sum().clamp(min=1)
    return torch.where(kept, right, p).to(logits.dtype)


def negative_default_ignore_index(grad_loss, logits, target, lse, ignore_index=-100, z_weight=1e-4):
    changed = torch.where(target < 0, -100, target)
    return _gradient(grad_loss, logits, changed, lse, -100, z_weight).to(logits.dtype)


def negative_softmax_in_bfloat16(grad_loss, logits, target, lse, ignore_index=-100, z_weight=1e-4):
    """Rounds probabilities before the rest."""
    kept = target != ignore_index
    hot = torch.arange(logits.shape[1], device=logits.device) == torch.where(kept, target, 0)[:, None]
    p = (logits.float() - lse[:, None]).exp().to(logits.dtype).float()
    factor = kept * grad_loss / kept.sum().clamp(min=1)
    return (factor[:, None] * (p * (1 + 2 * z_weight * lse)[:, None] - hot.float())).to(logits.dtype)


def negative_logits_less_lse_in_bfloat16(grad_loss, logits, target, lse, ignore_index=-100, z_weight=1e-4):
    rounded = (logits - lse[:, None].to(logits.dtype)).float() + lse[:, None]
    return _gradient(grad_loss, rounded, target, lse, ignore_index, z_weight).to(logits.dtype)
