"""Causal attention of the prompts of a batch, with grouped query heads. The sequences follow each other without padding.

`gqa_prefill(q, k, v, starts, longest)` is a new contiguous bfloat16 tensor of `q`'s shape.

- `q`: bfloat16 `(T, H, D)`, a row a token; `k` and `v`: bfloat16 `(T, G, D)`; `H` is a multiple of `G`, and query head `h` reads key and value head
  `h // (H / G)`;
- `starts`: int32 `(B + 1,)`, on the device, ascending from 0 to `T`: sequence `b` has the tokens `starts[b]` to `starts[b + 1] - 1`, at least one;
- `longest`: the length of the longest sequence.

Within its sequence, a token sees itself and those before it: `softmax(q · kᵀ / √D) · v`, with the row's largest score subtracted first. Scores, the softmax and
sums are float32; probabilities may be rounded to bfloat16, which tensor cores need, before they are divided by their sum or after; the result is
rounded once. `D` ≤ 128 and lengths need not be multiples of anything. All arguments are contiguous.

Sizes: heads of Llama 3 8B (32 and 8 of 128) and 70B on four GPUs (16 and 2), Qwen2.5 7B (28 and 4) and 0.5B (14 and 2 of 64), by their model cards.
"""

from itertools import pairwise

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 5
DTYPE = "bfloat16"
TAGS = ("attention", "softmax", "matmul", "tensor-core", "bf16", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small")

CASES = [
    dict(lengths=(37,), heads=(4, 2), head=64),
    dict(lengths=(5, 1, 19), heads=(4, 1), head=32),
    dict(lengths=(131,), heads=(2, 1), head=16),
    dict(lengths=(17, 64, 3), heads=(7, 1), head=24),
    dict(lengths=(1,), heads=(1, 1), head=1),
    dict(lengths=(66, 65), heads=(3, 3), head=80),
    dict(lengths=(2, 2, 2, 2, 2), heads=(6, 3), head=40),
    dict(lengths=(150, 7), heads=(2, 2), head=128),
]

SIZES = [
    dict(lengths=(512,), heads=(32, 8), head=128),
    dict(lengths=(300, 77, 1024, 512, 135), heads=(14, 2), head=64),
    dict(lengths=(2048,), heads=(28, 4), head=128),
    dict(lengths=(1000, 3000, 50, 2000), heads=(32, 8), head=128),
    dict(lengths=(8192,), heads=(32, 8), head=128),
    dict(lengths=(8192, 8192), heads=(16, 2), head=128),
]
WEIGHTS = [1, 1, 2, 2, 3, 3]


def magnitude(q, k, v, starts, longest):
    """Eight times the sum of p·|v|: an eighth of a roundoff of it is what rounding all probabilities changes at most."""
    return 8 * gqa_prefill(q, k, v.abs(), starts, longest).double()


CONTRACT = Close(scale=magnitude, strides="contiguous")


def gqa_prefill(q, k, v, starts, longest: int):
    results = []
    for start, end in pairwise(starts.tolist()):
        one = (x[start:end].transpose(0, 1).unsqueeze(0) for x in (q, k, v))
        result = F.scaled_dot_product_attention(*one, is_causal=True, enable_gqa=True)
        results.append(result[0].transpose(0, 1))
    return torch.cat(results).contiguous()


def inputs(make, lengths, heads, head):
    tokens = sum(lengths)
    starts = torch.tensor([0, *lengths], device=make.device).cumsum(0).to(torch.int32)
    q, k, v = (make.floats(tokens, h, head) for h in (heads[0], heads[1], heads[1]))
    return call(q, k, v, starts, max(lengths))


def _by_sequence(q, k, v, starts, hide=1, scale=None, of_head=None, hidden=float("-inf")):
    """Whole matrices of scores; `hide`: the first diagonal that a token does not see."""
    H, G, results = q.shape[1], k.shape[1], []
    of_head = torch.arange(H, device=q.device) // (H // G) if of_head is None else of_head
    for start, end in pairwise(starts.tolist()):
        keys, values = (x[start:end, of_head].float() for x in (k, v))
        scores = torch.einsum("shd,thd->hst", q[start:end].float(), keys) * (scale or q.shape[-1] ** -0.5)
        above = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(hide)
        p = scores.masked_fill(above, hidden).softmax(-1)
        results.append(torch.einsum("hst,thd->shd", p.to(q.dtype).float(), values))
    return torch.cat(results).to(q.dtype)


def positive_whole_scores(q, k, v, starts, longest):
    return _by_sequence(q, k, v, starts)


def positive_online_softmax(q, k, v, starts, longest):
    """Keys in blocks of 16; probabilities are rounded before they are divided by their sum."""
    H, G, results = q.shape[1], k.shape[1], []
    for start, end in pairwise(starts.tolist()):
        one = q[start:end].float().transpose(0, 1) * q.shape[-1] ** -0.5
        keys, values = (x[start:end].repeat_interleave(H // G, 1).float().transpose(0, 1) for x in (k, v))
        top = torch.full((*one.shape[:2], 1), float("-inf"), device=q.device)
        total, acc = torch.zeros_like(top), torch.zeros_like(one)
        row = torch.arange(end - start, device=q.device)[:, None]
        for first in range(0, end - start, 16):
            scores = one @ keys[:, first : first + 16].mT
            column = first + torch.arange(scores.shape[-1], device=q.device)
            scores = scores.masked_fill(column > row, float("-inf"))
            new = torch.maximum(top, scores.amax(-1, keepdim=True))
            p, fade = torch.exp(scores - new), torch.exp(top - new)
            total = total * fade + p.sum(-1, keepdim=True)
            acc = acc * fade + p.to(q.dtype).float() @ values[:, first : first + 16]
            top = new
        results.append((acc / total).transpose(0, 1))
    return torch.cat(results).to(q.dtype).contiguous()


def negative_sees_the_next_token(q, k, v, starts, longest):
    return _by_sequence(q, k, v, starts, hide=2)


def negative_not_itself(q, k, v, starts, longest):
    """The mask a diagonal too low; what sees nothing averages."""
    return _by_sequence(q, k, v, starts, hide=0, hidden=-1e30)


def negative_not_causal(q, k, v, starts, longest):
    return _by_sequence(q, k, v, starts, hide=1 << 20)


def negative_unscaled(q, k, v, starts, longest):
    return _by_sequence(q, k, v, starts, scale=1.0)


def negative_heads_in_turn(q, k, v, starts, longest):
    """Query head h reads key head h modulo G."""
    return _by_sequence(q, k, v, starts, of_head=torch.arange(q.shape[1], device=q.device) % k.shape[1])


def negative_one_sequence(q, k, v, starts, longest):
    """Sequences see those before them in the batch."""
    return _by_sequence(q, k, v, starts[[0, -1]])


def negative_masked_by_zero(q, k, v, starts, longest):
    """Hidden scores are 0 in place of -∞."""
    return _by_sequence(q, k, v, starts, hidden=0.0)


def negative_bf16_scores(q, k, v, starts, longest):
    """Rounds scores to bfloat16 before the softmax."""
    H, G, results = q.shape[1], k.shape[1], []
    for start, end in pairwise(starts.tolist()):
        keys, values = (x[start:end].repeat_interleave(H // G, 1) for x in (k, v))
        scores = torch.einsum("shd,thd->hst", q[start:end], keys) * q.shape[-1] ** -0.5
        above = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        p = scores.masked_fill(above, float("-inf")).softmax(-1)
        results.append(torch.einsum("hst,thd->shd", p, values))
    return torch.cat(results)
