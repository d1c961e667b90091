"""Cross-entropy over a large vocabulary, with ignored positions and the z-loss that keeps logits from drifting.

`cross_entropy_zloss(logits, target, ignore_index=-100, z_weight=1e-4)` returns the tuple `(loss, lse)`:

- `lse[t] = log(sum over v of exp(logits[t, v]))`, float32 `(T,)`, of every position, ignored ones too: the backward needs it;
- `loss` is a float32 tensor without dimensions, the sum over positions with `target[t] ≠ ignore_index` of
  `lse[t] − logits[t, target[t]] + z_weight · lse[t]²`, divided by the number of such positions, or by 1 where there is none.

`logits` is bfloat16 `(T, V)`, `target` int64 `(T,)` with values in `[0, V)` or equal to `ignore_index`, which may itself be in `[0, V)`; both are
contiguous, `T ≥ 1`. The arithmetic is float32. Logits reach several hundred: subtract the largest before `exp`. A row is too long for one
program's registers: go over it in chunks.

Sizes: vocabularies of Llama 3.1 (128256), Qwen2.5 (152064), Mixtral 8x7B (32000), DeepSeek-V3 (129280) and Mamba-2.8B (50280), after their model
cards, at micro-batches of 2,048 to 8,192 tokens. The z-loss is PaLM's (section 5 of its paper), with its weight. Weights are in proportion to the
elements.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "bfloat16"
TAGS = ("loss", "softmax", "reduction", "memory-bound", "training")

CASES = [
    dict(tokens=37, vocabulary=45),
    dict(tokens=131, vocabulary=257, ignored=0.3),
    dict(tokens=3, vocabulary=5000),
    dict(tokens=1, vocabulary=1),
    dict(tokens=19, vocabulary=1031, ignored=0.5, z_weight=0.01),
    dict(tokens=67, vocabulary=300, ignored=1.0),
    dict(tokens=33, vocabulary=129, ignored=0.2, ignore_index=0),
    dict(tokens=8, vocabulary=2049, z_weight=0.0),
    dict(tokens=515, vocabulary=17, ignored=0.1, ignore_index=-1),
]

SIZES = [
    dict(tokens=4096, vocabulary=32000, ignored=0.1),
    dict(tokens=4096, vocabulary=50280, ignored=0.1),
    dict(tokens=2048, vocabulary=128256, ignored=0.1),
    dict(tokens=2048, vocabulary=152064, ignored=0.1),
    dict(tokens=4096, vocabulary=129280, ignored=0.1),
    dict(tokens=8192, vocabulary=128256, ignored=0.5),
]
WEIGHTS = [1.3, 2.1, 2.6, 3.1, 5.3, 10.5]


def _size(logits, target, ignore_index=-100, z_weight=1e-4):
    """A loss is a difference of logits: where it is small it carries their rounding."""
    return 1 + float(torch.linalg.vector_norm(logits, dtype=torch.float64)) / max(1, logits.numel()) ** 0.5


CONTRACT = Close(scale=_size, strides="contiguous")


def cross_entropy_zloss(logits, target, ignore_index: int = -100, z_weight: float = 1e-4):
    lse = torch.logsumexp(logits.to(torch.promote_types(logits.dtype, torch.float32)), 1)
    kept = target != ignore_index
    picked = logits.gather(1, torch.where(kept, target, 0)[:, None])[:, 0]
    losses = torch.where(kept, lse - picked + z_weight * lse.square(), 0)
    return losses.sum() / kept.sum().clamp(min=1), lse


def inputs(make, tokens, vocabulary, ignored=0.0, ignore_index=-100, z_weight=1e-4):
    target = make.ints(tokens, low=0, high=vocabulary)
    if ignored:
        target = target.masked_fill(make.bools(tokens, p=ignored), ignore_index)
    return call(make.floats(tokens, vocabulary), target, ignore_index=ignore_index, z_weight=z_weight)


def _chunked(logits, size=64, first=0.0):
    """The logarithms of the sums, by a running largest and a running sum; `first` is where the largest begins."""
    top = torch.full((logits.shape[0], 1), float("-inf"), device=logits.device)
    total = torch.zeros_like(top)
    for part in logits.float().split(size, 1):
        larger = torch.maximum(top, part.amax(1, keepdim=True))
        total, top = total * (top - larger).exp() + (part - larger).exp().sum(1, keepdim=True), larger
    return (total.log() + top)[:, 0]


def _loss(logits, target, ignore_index, z_weight, lse):
    kept = target != ignore_index
    picked = logits.gather(1, torch.where(kept, target, 0)[:, None])[:, 0].float()
    return (torch.where(kept, lse - picked + z_weight * lse * lse, 0)).sum() / kept.sum().clamp(min=1)


def positive_chunks(logits, target, ignore_index=-100, z_weight=1e-4):
    lse = _chunked(logits)
    return _loss(logits, target, ignore_index, z_weight, lse), lse


def positive_base_two(logits, target, ignore_index=-100, z_weight=1e-4):
    """Logits divided by log(2) first, for exp2 and log2."""
    scaled = logits.float() * 1.4426950408889634
    top = scaled.amax(1, keepdim=True)
    lse = ((scaled - top).exp2().sum(1).log2() + top[:, 0]) * 0.6931471805599453
    return _loss(logits, target, ignore_index, z_weight, lse), lse


def negative_no_max_subtraction(logits, target, ignore_index=-100, z_weight=1e-4):
    lse = logits.float().exp().sum(1).log()
    return _loss(logits, target, ignore_index, z_weight, lse), lse


def negative_mean_over_all(logits, target, ignore_index=-100, z_weight=1e-4):
    """Counts ignored positions."""
    loss, lse = cross_entropy_zloss(logits, target, ignore_index, z_weight)
    return loss * (target != ignore_index).sum() / target.numel(), lse


def negative_z_loss_of_ignored(logits, target, ignore_index=-100, z_weight=1e-4):
    loss, lse = cross_entropy_zloss(logits, target, ignore_index, 0.0)
    return loss + z_weight * lse.square().sum() / (target != ignore_index).sum().clamp(min=1), lse


def negative_no_z_loss(logits, target, ignore_index=-100, z_weight=1e-4):
    return cross_entropy_zloss(logits, target, ignore_index, 0.0)


def negative_z_loss_not_squared(logits, target, ignore_index=-100, z_weight=1e-4):
    loss, lse = cross_entropy_zloss(logits, target, ignore_index, 0.0)
    kept = target != ignore_index
    return loss + z_weight * torch.where(kept, lse.abs(), 0).sum() / kept.sum().clamp(min=1), lse


def negative_default_ignore_index(logits, target, ignore_index=-100, z_weight=1e-4):
    """Ignores -100 and other negative targets, whatever was asked for."""
    return cross_entropy_zloss(logits, torch.where(target < 0, -100, target), -100, z_weight)


def negative_ignored_as_class_zero(logits, target, ignore_index=-100, z_weight=1e-4):
    return cross_entropy_zloss(logits, torch.where(target == ignore_index, 0, target), -100, z_weight)


def negative_not_a_number_if_all_ignored(logits, target, ignore_index=-100, z_weight=1e-4):
    loss, lse = cross_entropy_zloss(logits, target, ignore_index, z_weight)
    return torch.where((target != ignore_index).any(), loss, torch.nan), lse


def negative_largest_of_the_last_chunk(logits, target, ignore_index=-100, z_weight=1e-4):
    """Does not rescale the sum where a chunk brings a larger logit."""
    top, total = torch.full((logits.shape[0], 1), float("-inf"), device=logits.device), 0
    for part in logits.float().split(64, 1):
        top = torch.maximum(top, part.amax(1, keepdim=True))
        total = total + (part - top).exp().sum(1, keepdim=True)
    lse = (total.log() + top)[:, 0]
    return _loss(logits, target, ignore_index, z_weight, lse), lse


def negative_padding_counted(logits, target, ignore_index=-100, z_weight=1e-4):
    """The padding to a power of two takes part with score 0."""
    padded = torch.nn.functional.pad(logits, (0, (1 << (logits.shape[1] - 1).bit_length()) - logits.shape[1]))
    lse = torch.logsumexp(padded.float(), 1)
    return _loss(logits, target, ignore_index, z_weight, lse), lse


def negative_sums_in_bfloat16(logits, target, ignore_index=-100, z_weight=1e-4):
    lse = torch.logsumexp(logits, 1).float()
    return _loss(logits, target, ignore_index, z_weight, lse), lse
