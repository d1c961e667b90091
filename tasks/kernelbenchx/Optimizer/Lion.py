"""One step of the Lion optimizer (evolved sign momentum), in place.

`lion_step(param, grad, exp_avg, lr=1e-4, beta1=0.9, beta2=0.99, weight_decay=0.0)` updates `param` and `exp_avg` in
place and returns the tuple `(param, exp_avg)` of these very tensors. `grad` is not changed.

1. `update = beta1 * exp_avg + (1 - beta1) * grad`, with the old average;
2. `param = param * (1 - lr * weight_decay) - lr * sign(update)`, where `sign` is -1, 0 or 1;
3. `exp_avg = beta2 * exp_avg + (1 - beta2) * grad`, from the old average again, not from `update`.

The three tensors are float32 and of one shape, which is any, also without elements; each may have strides of its own.
Where the two terms of `update` cancel to within 2⁻²¹ of their size, rounding decides its
sign and any of the three is right; where both are 0 the sign is 0. Everything else agrees to a few units in the last
place. Values are finite.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "optimizer", "in-place", "memory-bound")
MAGNITUDES = (-104, 120)
ENTRY = "lion_step"
MUTATES = ("param", "exp_avg")

CASES = [
    dict(shape=(37,), lr=1e-3),
    dict(shape=(1031,), lr=5e-4, beta1=0.95, beta2=0.98, weight_decay=0.1),
    dict(shape=(4099,)),
    dict(shape=(67,), lr=1e-3, fresh=True),
    dict(shape=(521,), lr=1e-3, weight_decay=0.1),
    dict(shape=(1,)),
    dict(shape=(0,)),
    dict(shape=(37,), fresh=True, resting=True),
    dict(shape=(1031,), lr=0.1, weight_decay=0.1),
    dict(shape=(129,), strided=True),
    dict(shape=(155,), strided_state=True),
    dict(shape=(465,), beta1=0.5, beta2=0.9, cancelling=True),
    dict(shape=(33, 65)),
    dict(shape=(), weight_decay=0.1),
]

SIZES = [
    dict(shape=(1024,)),
    dict(shape=(524288,)),
    dict(shape=(16777216,), weight_decay=0.1),
    dict(shape=(67108864,)),
]


def lion_step(param, grad, exp_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0):
    update = exp_avg * beta1 + grad * (1 - beta1)
    param.mul_(1 - lr * weight_decay).sub_(lr * torch.sign(update))
    exp_avg.mul_(beta2).add_(grad * (1 - beta2))
    return param, exp_avg


def inputs(make, shape, strided=False, strided_state=False, fresh=False, resting=False, cancelling=False, **options):
    """`fresh`: an empty average. `resting`: some gradients of zero. `cancelling`: every fourth `update` is 0, or almost."""
    param, grad = make.plain(*shape), make.floats(*shape)
    exp_avg = torch.zeros_like(grad) if fresh else 0.1 * make.plain(*shape)
    if resting:
        grad[..., ::5] = 0
    if cancelling:
        beta1 = options["beta1"]
        exp_avg[..., ::4] = -(1 - beta1) / beta1 * grad[..., ::4]
    if strided:
        param, grad = make.strided(param), make.strided(grad)
    if strided_state:
        param, exp_avg = make.strided(param), make.strided(exp_avg)
    return call(param, grad, exp_avg, **options)


ULPS = 8 * 2.0**-23
"""Relative error of two factors, two products and a sum."""
CANCELLED = 2.0**-21
"""How small a sum is, relative to its terms, whose sign is free."""
FACTOR = 2.0**-23
"""Absolute error of `1 - beta`."""
CHUNK = 1 << 24


def check(args, kwargs, result, expected):
    if isinstance(result, dict):  # Empty tensors share no memory: arguments and results come apart.
        result = result["output"]
    parts = [t.reshape(-1).split(CHUNK) for t in (*args, *result)]
    complaints = (_chunk(*chunks, **kwargs) for chunks in zip(*parts, strict=True))
    return next(([text] for text in complaints if text), [])


def _chunk(param, grad, exp_avg, new_param, new_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0):
    param, grad, exp_avg = param.double(), grad.double(), exp_avg.double()
    old, new = beta1 * exp_avg, (1 - beta1) * grad
    free = (old + new).abs() < CANCELLED * (old.abs() + new.abs()) + FACTOR * grad.abs()
    free &= (old != 0) & (new != 0)
    decayed = param * (1 - lr * weight_decay)
    errors = [(new_param.double() - (decayed - lr * sign)).abs() for sign in (torch.sign(old + new), -1, 0, 1)]
    error = torch.where(free, torch.stack(errors).amin(0), errors[0])
    right = error <= ULPS * (decayed.abs() + lr)
    if not right.all():
        return f"{int((~right).sum())} wrong parameters, the worst by {error[~right].nan_to_num(torch.inf).max():.3g}"
    old, new = beta2 * exp_avg, (1 - beta2) * grad
    error = (new_avg.double() - (old + new)).abs()
    right = error <= ULPS * (old.abs() + new.abs()) + FACTOR * grad.abs()
    if not right.all():
        return f"{int((~right).sum())} wrong averages, the worst by {error[~right].nan_to_num(torch.inf).max():.3g}"
    return None


CONTRACT = Property(check)


def positive_fused(param, grad, exp_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0):
    """Other grouping: lerp, decay and step apart."""
    update = torch.lerp(grad, exp_avg, beta1)
    step = (update > 0).to(param.dtype) - (update < 0).to(param.dtype)
    return param.copy_(param - lr * weight_decay * param - lr * step), exp_avg.copy_(torch.lerp(grad, exp_avg, beta2))


def positive_float32_factors(param, grad, exp_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0):
    """`1 - beta` as a difference of float32 numbers."""
    rest1, rest2 = (float(1 - torch.tensor(beta)) for beta in (beta1, beta2))
    sign = torch.sign(beta1 * exp_avg + rest1 * grad)
    exp_avg.copy_(beta2 * exp_avg + rest2 * grad)
    return param.copy_(param * (1 - lr * weight_decay) - lr * sign), exp_avg


def negative_no_sign(param, grad, exp_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0):
    update = beta1 * exp_avg + (1 - beta1) * grad
    param.mul_(1 - lr * weight_decay).sub_(lr * update)
    return param, exp_avg.mul_(beta2).add_((1 - beta2) * grad)


def negative_zero_is_positive(param, grad, exp_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0):
    step = torch.where(beta1 * exp_avg + (1 - beta1) * grad >= 0, 1.0, -1.0)
    param.mul_(1 - lr * weight_decay).sub_(lr * step)
    return param, exp_avg.mul_(beta2).add_((1 - beta2) * grad)


def negative_average_of_update(param, grad, exp_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0):
    """Keeps the sum that gave the sign."""
    update = beta1 * exp_avg + (1 - beta1) * grad
    lion_step(param, grad, exp_avg, lr, beta1, beta2, weight_decay)
    return param, exp_avg.copy_(update)


def negative_sign_of_new_average(param, grad, exp_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0):
    return lion_step(param, grad, exp_avg, lr, beta2, beta2, weight_decay)


def negative_decay_in_gradient(param, grad, exp_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0):
    old = exp_avg.clone()
    lion_step(param, grad + weight_decay * param, exp_avg, lr, beta1, beta2)
    return param, exp_avg.copy_(beta2 * old + (1 - beta2) * grad)


def negative_ignores_decay(param, grad, exp_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0):
    return lion_step(param, grad, exp_avg, lr, beta1, beta2)


def negative_decays_after_step(param, grad, exp_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0):
    """Decays what the step has already changed."""
    lion_step(param, grad, exp_avg, lr, beta1, beta2)
    return param.mul_(1 - lr * weight_decay), exp_avg


def negative_out_of_place(param, grad, exp_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0):
    """Returns the right values and leaves the arguments as they were."""
    return lion_step(param.clone(), grad, exp_avg.clone(), lr, beta1, beta2, weight_decay)
