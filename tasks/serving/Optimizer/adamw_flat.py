"""One step of AdamW on flat buffers: float32 master weights and moments, bfloat16 gradients and weights, as mixed-precision training shards them.

`adamw_flat(master, exp_avg, exp_avg_sq, param, grad, clip, step, lr, beta1, beta2, eps, weight_decay)` updates the first four in place and
returns `param`, that very tensor. With `t = step` (an int, counted from 1) and `g = clip · grad` in float32:

1. `master = master · (1 − lr · weight_decay)`, the decay that is decoupled from the gradient;
2. `exp_avg = beta1 · exp_avg + (1 − beta1) · g`;
3. `exp_avg_sq = beta2 · exp_avg_sq + (1 − beta2) · g²`;
4. `master = master − lr / (1 − beta1^t) · exp_avg / (sqrt(exp_avg_sq / (1 − beta2^t)) + eps)`;
5. `param = master`, rounded to bfloat16 once.

- `master`, `exp_avg` and `exp_avg_sq` are float32 `(N,)`, `param` and `grad` bfloat16 `(N,)`; `clip` is a float32 tensor `(1,)`, the factor that
  clipping found. All are contiguous; `N ≥ 1` need not be a multiple of anything. `param` need not be read. `grad` and `clip` are not changed.
- The arithmetic is float32; `1 − beta` may be computed in float32.

Sizes: the shard of one GPU of GPT-2 (124,439,808 parameters on one), Mamba-2.8B on 32, Llama 3.1 8B on 64 and on 128, Qwen2.5-7B on 64 and Llama
3.1 70B on 512, after their model cards. Weights are in proportion to the elements.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "optimizer", "in-place", "memory-bound", "training")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "wide", "zeros")
MUTATES = ("master", "exp_avg", "exp_avg_sq", "param")

CASES = [
    dict(count=2048, step=1, fresh=True),
    dict(count=37, step=2),
    dict(count=1031, step=100, weight_decay=0.1),
    dict(count=1, step=1),
    dict(count=5000, step=57, clipped=True),
    dict(count=257, step=1, fresh=True, weight_decay=0.5),
    dict(count=4097, step=7, beta1=0.5, beta2=0.9),
    dict(count=900, step=10, lr=0.1),
    dict(count=3001, step=1000, eps=1e-2, clipped=True),
]

SIZES = [
    dict(count=124439808, step=100),
    dict(count=86510800, step=100),
    dict(count=125472832, step=100, clipped=True),
    dict(count=62736416, step=100, clipped=True),
    dict(count=118994008, step=100, clipped=True),
    dict(count=137800208, step=100, clipped=True),
]
WEIGHTS = [12.4, 8.7, 12.5, 6.3, 11.9, 13.8]

# A kernel gets the betas as float32: 1 - 0.999 is then off by 1.3e-5 of itself, 216 times the roundoff, which a large gradient's moment
# takes over: twice that.
CONTRACT = Close(growth=16)


def adamw_flat(
    master, exp_avg, exp_avg_sq, param, grad, clip, step: int, lr: float = 3e-4, beta1: float = 0.9, beta2: float = 0.95,
    eps: float = 1e-8, weight_decay: float = 0.1,
):  # fmt: skip
    g = clip * grad
    master.mul_(1 - lr * weight_decay)
    exp_avg.mul_(beta1).add_(g, alpha=1 - beta1)
    exp_avg_sq.mul_(beta2).addcmul_(g, g, value=1 - beta2)
    denominator = (exp_avg_sq / (1 - beta2**step)).sqrt_().add_(eps)
    master.addcdiv_(exp_avg, denominator, value=-lr / (1 - beta1**step))
    return param.copy_(master)


def inputs(make, count, step, fresh=False, clipped=False, **options):
    """`fresh` starts from empty moments, as the first step of a training run does."""
    master, grad = make.plain(count), make.floats(count, dtype=torch.bfloat16)
    exp_avg, exp_avg_sq = 0.1 * make.plain(count), make.plain(count, low=1e-6, high=0.05)
    if fresh:
        exp_avg, exp_avg_sq = torch.zeros_like(exp_avg), torch.zeros_like(exp_avg_sq)
    clip = make.plain(1, low=0.05, high=0.9) if clipped else torch.ones_like(master[:1])
    return call(master, exp_avg, exp_avg_sq, master.bfloat16(), grad, clip, step, **options)


def _step(
    master, exp_avg, exp_avg_sq, param, grad, clip, step, lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1,
    corrected1=True, corrected2=True, decay_in_gradient=False, eps_inside=False,
):  # fmt: skip
    """The formulas out of place and copied back, with `1 - beta` in float32, or spoiled as the last four say."""
    rest1, rest2 = (float(1 - torch.tensor(beta)) for beta in (beta1, beta2))
    g = grad.float() * clip
    if decay_in_gradient:
        g = g + weight_decay * master
    exp_avg.copy_(beta1 * exp_avg + rest1 * g)
    exp_avg_sq.copy_(beta2 * exp_avg_sq + rest2 * g * g)
    m = exp_avg / (1 - beta1**step) if corrected1 else exp_avg
    v = exp_avg_sq / (1 - beta2**step) if corrected2 else exp_avg_sq
    update = m / (v + eps).sqrt() if eps_inside else m / (v.sqrt() + eps)
    decay = 0 if decay_in_gradient else lr * weight_decay * master
    master.copy_(master - decay - lr * update)
    return param.copy_(master)


def positive_textbook(
    master, exp_avg, exp_avg_sq, param, grad, clip, step, lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1
):
    return _step(master, exp_avg, exp_avg_sq, param, grad, clip, step, lr, beta1, beta2, eps, weight_decay)


def negative_decay_in_gradient(
    master, exp_avg, exp_avg_sq, param, grad, clip, step, lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1
):
    """Adam with L2 regularization."""
    options = (lr, beta1, beta2, eps, weight_decay)
    return _step(master, exp_avg, exp_avg_sq, param, grad, clip, step, *options, decay_in_gradient=True)


def negative_no_weight_decay(
    master, exp_avg, exp_avg_sq, param, grad, clip, step, lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1
):
    return _step(master, exp_avg, exp_avg_sq, param, grad, clip, step, lr, beta1, beta2, eps, 0.0)


def negative_no_bias_correction(
    master, exp_avg, exp_avg_sq, param, grad, clip, step, lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1
):
    """Forgets that young moments are too small."""
    options = (lr, beta1, beta2, eps, weight_decay)
    return _step(master, exp_avg, exp_avg_sq, param, grad, clip, step, *options, corrected1=False, corrected2=False)


def negative_no_second_bias_correction(
    master, exp_avg, exp_avg_sq, param, grad, clip, step, lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1
):
    options = (lr, beta1, beta2, eps, weight_decay)
    return _step(master, exp_avg, exp_avg_sq, param, grad, clip, step, *options, corrected2=False)


def negative_step_counted_from_zero(
    master, exp_avg, exp_avg_sq, param, grad, clip, step, lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1
):
    return _step(master, exp_avg, exp_avg_sq, param, grad, clip, step + 1, lr, beta1, beta2, eps, weight_decay)


def negative_eps_inside_the_root(
    master, exp_avg, exp_avg_sq, param, grad, clip, step, lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1
):
    options = (lr, beta1, beta2, eps, weight_decay)
    return _step(master, exp_avg, exp_avg_sq, param, grad, clip, step, *options, eps_inside=True)


def negative_not_clipped(
    master, exp_avg, exp_avg_sq, param, grad, clip, step, lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1
):
    one = torch.ones_like(clip)
    return _step(master, exp_avg, exp_avg_sq, param, grad, one, step, lr, beta1, beta2, eps, weight_decay)


def negative_square_not_clipped(
    master, exp_avg, exp_avg_sq, param, grad, clip, step, lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1
):
    """Clips after the second moment has seen the gradient."""
    scaled = exp_avg / clip
    _step(master, scaled, exp_avg_sq, param, grad, torch.ones_like(clip), step, lr, beta1, beta2, eps, weight_decay)
    exp_avg.copy_(scaled * clip)
    return param


def negative_param_not_written(
    master, exp_avg, exp_avg_sq, param, grad, clip, step, lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1
):
    kept = param.clone()
    _step(master, exp_avg, exp_avg_sq, param, grad, clip, step, lr, beta1, beta2, eps, weight_decay)
    return param.copy_(kept)


def negative_master_from_param(
    master, exp_avg, exp_avg_sq, param, grad, clip, step, lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1
):
    """Updates the rounded weights, so that small steps are lost."""
    master.copy_(param)
    return _step(master, exp_avg, exp_avg_sq, param, grad, clip, step, lr, beta1, beta2, eps, weight_decay)


def negative_moments_in_bfloat16(
    master, exp_avg, exp_avg_sq, param, grad, clip, step, lr=3e-4, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1
):
    _step(master, exp_avg, exp_avg_sq, param, grad, clip, step, lr, beta1, beta2, eps, weight_decay)
    exp_avg.copy_(exp_avg.bfloat16())
    exp_avg_sq.copy_(exp_avg_sq.bfloat16())
    return param
