"""Caps the logits of a language model softly, as Gemma 2 does.

`logit_softcap(logits, cap)` is `cap · tanh(logits / cap)`, element by element, a new contiguous float32 tensor of `logits`' shape.

- `logits`: bfloat16 `(T, V)`, contiguous, a row a token;
- `cap`: a positive float.

Arithmetic is float32, and so is the result: next to it, the tanh instruction of a GPU is too coarse. `T ≥ 1` and `V ≥ 1` need not be multiples of anything.

Sizes: vocabularies of Gemma 2 (256000, a cap of 30) and Grok-1 (131072, 30), by their model cards; `tokens` is a decode batch, or those tokens of a
prefill whose probabilities are asked for.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "bfloat16"
TAGS = ("elementwise", "activation", "memory-bound", "bf16", "inference")

CASES = [
    dict(tokens=5, vocabulary=257, cap=30.0),
    dict(tokens=3, vocabulary=1000, cap=50.0),
    dict(tokens=1, vocabulary=1, cap=30.0),
    dict(tokens=17, vocabulary=64, cap=5.0),
    dict(tokens=2, vocabulary=4099, cap=30.0),
    dict(tokens=33, vocabulary=130, cap=1.0),
    dict(tokens=4, vocabulary=2048, cap=100.0),
    dict(tokens=1, vocabulary=515, cap=0.5),
]

SIZES = [
    dict(tokens=1, vocabulary=256000, cap=30.0),
    dict(tokens=16, vocabulary=256000, cap=30.0),
    dict(tokens=64, vocabulary=131072, cap=30.0),
    dict(tokens=256, vocabulary=256000, cap=30.0),
    dict(tokens=1024, vocabulary=131072, cap=30.0),
    dict(tokens=2048, vocabulary=256000, cap=30.0),
]
WEIGHTS = [2, 2, 3, 3, 1, 1]


def magnitude(logits, cap):
    """tanh by way of an exponential errs by a roundoff or two of 1, however small it is."""
    return cap / 8


CONTRACT = Close(scale=magnitude, strides="contiguous")


def logit_softcap(logits, cap: float):
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return cap * torch.tanh(wide / cap)


def inputs(make, tokens, vocabulary, cap):
    return call(make.floats(tokens, vocabulary) * 4, cap)


def positive_by_exponentials(logits, cap):
    z = torch.exp(-2 * (logits.float() / cap).abs())
    return torch.copysign(cap * (1 - z) / (1 + z), logits.float())


def negative_clamped(logits, cap):
    return logits.float().clamp(-cap, cap)


def negative_not_scaled_back(logits, cap):
    return torch.tanh(logits.float() / cap)


def negative_bf16_result(logits, cap):
    return (cap * torch.tanh(logits.float() / cap)).bfloat16().float()


def negative_bf16_quotient(logits, cap):
    return cap * torch.tanh((logits / cap).float())


def negative_coarse_tanh(logits, cap):
    """tanh to 11 bits, as the instruction has it."""
    return cap * torch.tanh(logits.float() / cap).half().float()


def negative_other_cap(logits, cap):
    """Gemma's, whatever is asked for."""
    return 30 * torch.tanh(logits.float() / 30)
