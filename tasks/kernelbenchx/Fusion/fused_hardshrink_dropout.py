"""Dropout, then hard shrinkage.

`fused_hardshrink_dropout(input, p=0.5, training=True, inplace=False, lambd=0.5)`

1. `d`: if `training`, every element of `input` is independently set to 0 with probability `p` and multiplied by
   `1 / (1 - p)` otherwise; `p = 1` gives zeros only. If not `training`, or if `p = 0`, `d = input`.
2. The result is 0 where `-lambd <= d <= lambd` and `d` elsewhere; NaN stays NaN where it is kept. `lambd >= 0`.

Which elements are dropped is the kernel's own choice, at random: independent of the data and of each other, and anew in
each call, so seed from `torch`'s generator or a counter.

- `inplace=True`: `input` itself holds `d` after the call, of the same mask that made the result.
- `inplace=False`: `input` is left as it was.

`input` is float32 of any shape, may be empty and may be non-contiguous (also with `inplace=True`). The result is a new
tensor in both cases; its strides are free.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Random, call, dropout_complaints

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "random", "fusion", "memory-bound")
MUTATES = ("input",)

CASES = [
    dict(shape=(37, 53), p=0.1, lambd=0.7),
    dict(shape=(45, 41)),
    dict(shape=(17, 35), training=False),
    dict(shape=(1, 2053)),
    dict(shape=(131, 17), p=0.3, lambd=0.6),
    dict(shape=(1, 1)),
    dict(shape=(5, 13, 33)),
    dict(shape=(37, 53), p=0.1, strided=True),
    dict(shape=(65, 33), lambd=0.0),
    dict(shape=(45, 41), inplace=True),
    dict(shape=(33, 19), p=0.25, inplace=True, strided=True),
    dict(shape=(17, 18), p=0.0),
    dict(shape=(11, 1), p=1.0),
    dict(shape=(0, 12)),
]

SIZES = [
    dict(shape=(64, 64)),
    dict(shape=(1024, 1024)),
    dict(shape=(4096, 4096), p=0.1),
    dict(shape=(8192, 8192)),
]


def fused_hardshrink_dropout(
    input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, lambd: float = 0.5
) -> torch.Tensor:
    return F.hardshrink(F.dropout(input, p, training, inplace), lambd)


def inputs(make, shape, p=0.5, training=True, inplace=False, lambd=0.5, strided=False):
    """A sixteenth of the elements lie exactly on the threshold, before or after scaling."""
    x, edge = make.floats(*shape), make.ints(*shape, low=0, high=32)
    x = torch.where(edge == 0, lambd, torch.where(edge == 1, -lambd * (1 - p), x))
    return call(make.strided(x) if strided else x, p=p, training=training, inplace=inplace, lambd=lambd)


def check(args, kwargs, results, expected):
    x, (p, training, inplace, lambd) = args[0], (kwargs[k] for k in ("p", "training", "inplace", "lambd"))
    p = p if training else 0.0
    scaled = x / (1 - p) if p < 1 else torch.zeros_like(x)
    exact = x.double() / (1 - p) if p < 1 else scaled.double()
    outputs, inside = [r["output"] for r in results], [r["input"] for r in results]
    if not inplace and not all(torch.equal(i, x) for i in inside):
        return ["input has changed without inplace"]
    if inplace:
        complaints = dropout_complaints(inside, p, scaled, exact)
        if complaints or not all(torch.equal(F.hardshrink(i, lambd), o) for i, o in zip(inside, outputs, strict=True)):
            return complaints or ["the result is not what hard shrinkage makes of the input after the call"]
        return []
    # On the threshold the rounding of the scaled element decides, unless nothing is rounded.
    edge = ((exact.abs() - lambd).abs() <= 1e-6 * lambd) & (exact != x)
    edge = edge & (p not in (0.0, 0.5))
    kept = torch.where(edge, 0, F.hardshrink(scaled, lambd))
    truth = torch.where(edge, 0, F.hardshrink(exact, lambd))
    outputs = [torch.where(edge & ((o - scaled).abs() <= 1e-6 * lambd), 0, o) for o in outputs]
    return dropout_complaints(outputs, p, kept, truth)


CONTRACT = Random(check)


def _dropped(input, mask, p, inplace):
    d = input * mask / (1 - p) if p < 1 else torch.zeros_like(input)
    return input.copy_(d) if inplace else d


def positive_own_mask(input, p=0.5, training=True, inplace=False, lambd=0.5):
    d = _dropped(input, torch.rand(input.shape, device=input.device) >= p, p, inplace) if training else input
    return torch.where(d.abs() > lambd, d, 0)


def negative_shrinks_before_dropout(input, p=0.5, training=True, inplace=False, lambd=0.5):
    return F.dropout(F.hardshrink(input, lambd), p, training, inplace)


def negative_soft_shrinkage(input, p=0.5, training=True, inplace=False, lambd=0.5):
    return F.softshrink(F.dropout(input, p, training, inplace), lambd)


def negative_default_lambd(input, p=0.5, training=True, inplace=False, lambd=0.5):
    return F.hardshrink(F.dropout(input, p, training, inplace))


def negative_keeps_the_threshold(input, p=0.5, training=True, inplace=False, lambd=0.5):
    d = F.dropout(input, p, training, inplace)
    return torch.where(d.abs() >= lambd, d, 0)


def negative_not_in_place(input, p=0.5, training=True, inplace=False, lambd=0.5):
    return F.hardshrink(F.dropout(input, p, training), lambd)


def negative_always_in_place(input, p=0.5, training=True, inplace=False, lambd=0.5):
    return F.hardshrink(F.dropout(input, p, training, inplace=True), lambd)


def negative_not_rescaled(input, p=0.5, training=True, inplace=False, lambd=0.5):
    d = input * (torch.rand(input.shape, device=input.device) >= p) if training else input
    return F.hardshrink(input.copy_(d) if inplace else d, lambd)


def negative_drops_in_inference(input, p=0.5, training=True, inplace=False, lambd=0.5):
    return F.hardshrink(F.dropout(input, p, True, inplace), lambd)


def negative_same_mask_every_call(input, p=0.5, training=True, inplace=False, lambd=0.5):
    fixed = torch.rand(input.shape, generator=torch.Generator().manual_seed(0)).to(input.device)
    return F.hardshrink(_dropped(input, fixed >= p, p, inplace) if training else input, lambd)


def negative_same_mask_in_every_block(input, p=0.5, training=True, inplace=False, lambd=0.5):
    """A program that seeds with its offsets within the block."""
    mask = torch.rand(256, device=input.device).repeat(input.numel() // 256 + 1)[: input.numel()] >= p
    return F.hardshrink(_dropped(input, mask.reshape(input.shape), p, inplace) if training else input, lambd)
