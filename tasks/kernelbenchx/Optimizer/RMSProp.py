"""One step of the RMSProp optimizer, in place.

`rmsprop_step(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-8, weight_decay=0.0)` updates `param` and `square_avg`
in place and returns the tuple `(param, square_avg)` of these very tensors. `grad` is not changed.

1. `g = grad + weight_decay * param`, a decay that is part of the gradient, if `weight_decay` is not 0;
2. `square_avg = alpha * square_avg + (1 - alpha) * g * g`;
3. `param = param - lr * g / (sqrt(square_avg) + eps)`: the new average, without a mean subtracted, and `eps` outside
   of the root.

The three tensors are float32 and of one shape, which is any, also without elements; each may have strides of its own.
`square_avg` is not negative; where it and the gradient are 0, the parameter does not change. `1 - alpha` may be a
float32 difference.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "optimizer", "in-place", "memory-bound")
MAGNITUDES = (-104, 56)
ENTRY = "rmsprop_step"
MUTATES = ("param", "square_avg")

CASES = [
    dict(shape=(37,), fresh=True),
    dict(shape=(1031,), lr=1e-3, alpha=0.95, eps=1e-6, weight_decay=0.1),
    dict(shape=(4099,)),
    dict(shape=(67,), lr=5e-3, alpha=0.9),
    dict(shape=(521,), fresh=True, weight_decay=0.1),
    dict(shape=(1,)),
    dict(shape=(0,)),
    dict(shape=(1031,), lr=0.1),
    dict(shape=(129,), strided=True),
    dict(shape=(155,), strided_state=True, weight_decay=0.1),
    dict(shape=(465,), alpha=0.5),
    dict(shape=(129,), eps=1e-2),
    dict(shape=(129,), weight_decay=0.5),
    dict(shape=(33, 65)),
    dict(shape=(2053,), largest=1.0),
    dict(shape=()),
]

SIZES = [
    dict(shape=(1024,)),
    dict(shape=(524288,)),
    dict(shape=(16777216,), weight_decay=0.1),
    dict(shape=(67108864,)),
]

# A kernel gets alpha as a float32: 1 - alpha then has a relative error of 3e-6 for alpha = 0.99.
CONTRACT = Close(growth=8)


def rmsprop_step(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0):
    if weight_decay != 0:
        grad = grad.add(param, alpha=weight_decay)
    square_avg.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
    return param.addcdiv_(grad, square_avg.sqrt().add_(eps), value=-lr), square_avg


def inputs(make, shape, strided=False, strided_state=False, fresh=False, largest=0.01, **options):
    """`fresh` starts from an empty average, as the first step of a training run does; `largest` of one that is not."""
    param, grad, square_avg = make.plain(*shape), make.floats(*shape), make.plain(*shape, low=1e-6, high=largest)
    if fresh:
        square_avg = torch.zeros_like(square_avg)
    if strided:
        param, grad = make.strided(param), make.strided(grad)
    if strided_state:
        param, square_avg = make.strided(param), make.strided(square_avg)
    return call(param, grad, square_avg, **options)


def positive_textbook(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0):
    """The formulas out of place and copied back, with `1 - alpha` in float32."""
    g = grad + weight_decay * param
    square_avg.copy_(alpha * square_avg + float(1 - torch.tensor(alpha)) * (g * g))
    return param.copy_(param - lr * (g / (torch.sqrt(square_avg) + eps))), square_avg


def positive_fused(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0):
    """Other grouping: lerp, and a reciprocal."""
    g = torch.add(grad, param, alpha=weight_decay)
    square_avg.copy_(torch.lerp(g * g, square_avg, alpha))
    return param.sub_((lr * g) * (1 / (square_avg.sqrt() + eps)).clamp(max=1 / eps)), square_avg


def negative_eps_inside_root(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0):
    g = grad + weight_decay * param
    square_avg.copy_(alpha * square_avg + (1 - alpha) * g * g)
    return param.sub_(lr * g / torch.sqrt(square_avg + eps)), square_avg


def negative_old_average(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0):
    """Divides by the average before this step."""
    g = grad + weight_decay * param
    param.sub_(lr * g / (torch.sqrt(square_avg) + eps))
    return param, square_avg.copy_(alpha * square_avg + (1 - alpha) * g * g)


def negative_decoupled_decay(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0):
    """Decays the parameter, as AdamW does."""
    return rmsprop_step(param.mul_(1 - lr * weight_decay), grad, square_avg, lr, alpha, eps)


def negative_ignores_decay(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0):
    return rmsprop_step(param, grad, square_avg, lr, alpha, eps)


def negative_factors_swapped(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0):
    return rmsprop_step(param, grad, square_avg, lr, 1 - alpha, eps, weight_decay)


def negative_default_alpha(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0):
    return rmsprop_step(param, grad, square_avg, lr, 0.99, eps, weight_decay)


def negative_changes_grad(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0):
    """Adds the decay to the gradient that was passed in."""
    return rmsprop_step(param, grad.add_(param, alpha=weight_decay), square_avg, lr, alpha, eps)


def negative_out_of_place(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0):
    """Returns the right values and leaves the arguments as they were."""
    return rmsprop_step(param.clone(), grad, square_avg.clone(), lr, alpha, eps, weight_decay)
