"""One step of the AdamW optimizer, in place.

`adamw_step(param, grad, exp_avg, exp_avg_sq, step, lr, beta1, beta2, eps, weight_decay)` updates `param`, `exp_avg` and
`exp_avg_sq` in place and returns the tuple `(param, exp_avg, exp_avg_sq)` of these very tensors. `grad` is not changed.
With `t = step` (an int, counted from 1):

1. `param = param * (1 - lr * weight_decay)`, the decay that is decoupled from the gradient;
2. `exp_avg = beta1 * exp_avg + (1 - beta1) * grad`;
3. `exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * grad * grad`;
4. `denom = sqrt(exp_avg_sq) / sqrt(1 - beta2**t) + eps`;
5. `param = param - lr / (1 - beta1**t) * exp_avg / denom`.

`1 - beta` may be computed in float32. All four tensors have one shape, which is any, also without elements; each may have strides of its own.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("elementwise", "optimizer", "in-place", "memory-bound")
MAGNITUDES = (-104, 56)
ENTRY = "adamw_step"
MUTATES = ("param", "exp_avg", "exp_avg_sq")

CASES = [
    dict(shape=(10, 5), step=1, fresh=True),
    dict(shape=(33, 65), step=2),
    dict(shape=(37, 131), step=100, weight_decay=0.1),
    dict(shape=(1031, 3), step=57),
    dict(shape=(7, 257), step=1, fresh=True, weight_decay=0.1),
    dict(shape=(1, 1), step=1),
    dict(shape=(0, 4), step=3),
    dict(shape=(37,), step=1, fresh=True),
    dict(shape=(33, 65), step=7, strided=True),
    dict(shape=(33, 65), step=10, lr=0.1),
    dict(shape=(33, 65), step=1000),
    dict(shape=(33, 65), step=7, beta1=0.5, beta2=0.9),
    dict(shape=(33, 65), step=2, eps=1e-2),
    dict(shape=(33, 65), step=10, weight_decay=0.5),
    dict(shape=(19, 67), step=2, weight_decay=0.0, largest=1.0),
]

SIZES = [
    dict(shape=(32, 32), step=1),
    dict(shape=(1024, 1024), step=100),
    dict(shape=(32768, 1024), step=100),
    dict(shape=(65536, 1024), step=100),
]

# A kernel gets the betas as float32: 1 - 0.999 is then off by 1.3e-5 of itself, 216 times the roundoff, which a large gradient's moment
# takes over: twice that.
CONTRACT = Close(growth=16)


def adamw_step(param, grad, exp_avg, exp_avg_sq, step, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.01):
    param.mul_(1 - lr * weight_decay)
    exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
    exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    denom = (exp_avg_sq.sqrt() / (1 - beta2**step) ** 0.5).add_(eps)
    param.addcdiv_(exp_avg, denom, value=-lr / (1 - beta1**step))
    return param, exp_avg, exp_avg_sq


def inputs(make, shape, step, strided=False, fresh=False, largest=0.027, **options):
    """`fresh` starts from empty moments, as the first step of a training run does; `largest` of the second ones otherwise."""
    param, grad = make.plain(*shape), make.floats(*shape)
    exp_avg, exp_avg_sq = 0.1 * make.plain(*shape), make.plain(*shape, low=1e-6, high=largest)
    if fresh:
        exp_avg, exp_avg_sq = torch.zeros_like(exp_avg), torch.zeros_like(exp_avg_sq)
    if strided:
        param, grad, exp_avg, exp_avg_sq = (make.strided(t) for t in (param, grad, exp_avg, exp_avg_sq))
    return call(param, grad, exp_avg, exp_avg_sq, step, **options)


def positive_textbook(
    param, grad, exp_avg, exp_avg_sq, step, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.01
):
    """The five formulas out of place and copied back, with `1 - beta` in float32."""
    rest1, rest2 = (float(1 - torch.tensor(beta)) for beta in (beta1, beta2))
    exp_avg.copy_(beta1 * exp_avg + rest1 * grad)
    exp_avg_sq.copy_(beta2 * exp_avg_sq + rest2 * grad * grad)
    m, v = exp_avg / (1 - beta1**step), exp_avg_sq / (1 - beta2**step)
    param.copy_(param - lr * weight_decay * param - lr * m / (torch.sqrt(v) + eps))
    return param, exp_avg, exp_avg_sq


def negative_adam(
    param, grad, exp_avg, exp_avg_sq, step, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.01
):
    """Adds the decay to the gradient, as plain Adam does."""
    return adamw_step(param, grad + weight_decay * param, exp_avg, exp_avg_sq, step, lr, beta1, beta2, eps, 0.0)


def negative_no_bias_correction(
    param, grad, exp_avg, exp_avg_sq, step, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.01
):
    """Forgets that young moments are too small."""
    return adamw_step(param, grad, exp_avg, exp_avg_sq, 10**9, lr, beta1, beta2, eps, weight_decay)


def negative_out_of_place(
    param, grad, exp_avg, exp_avg_sq, step, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.01
):
    """Returns the right values and leaves the arguments as they were."""
    copies = param.clone(), exp_avg.clone(), exp_avg_sq.clone()
    return adamw_step(copies[0], grad, *copies[1:], step, lr, beta1, beta2, eps, weight_decay)
