"""One step of stochastic gradient descent, in place, with momentum.

`sgd_step(param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False)`
updates `param` in place and returns the tuple `(param, momentum_buffer)`. `grad` is not changed.

1. `g = grad + weight_decay * param`, with the old parameter;
2. if `momentum` is not 0:
   - `momentum_buffer` is updated in place: `momentum_buffer = momentum * momentum_buffer + (1 - dampening) * g`;
     `None` stands for a new tensor of zeros, so that the first step is dampened too;
   - then `g = g + momentum * momentum_buffer` if `nesterov`, else `g = momentum_buffer`, with the new buffer;
3. if `momentum` is 0, `dampening` and `nesterov` have no effect, a given buffer is left as it was, and `None` is
   returned in its place;
4. `param = param - lr * g`.

The tensors are float32 and of one shape, which is any, also without elements; each may have strides of its own, and
those of a new buffer are free. The tensors returned are `param` and, where it was given and `momentum` is not 0,
`momentum_buffer` themselves. `1 - dampening` may be a float32 difference.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "optimizer", "in-place", "memory-bound")
MAGNITUDES = (-104, 120)
ENTRY = "sgd_step"
MUTATES = ("param", "momentum_buffer")

CASES = [
    dict(shape=(37,), first=True, momentum=0.0),
    dict(shape=(1031,)),
    dict(shape=(257,), first=True, momentum=0.0, weight_decay=0.01),
    dict(shape=(67,), nesterov=True),
    dict(shape=(4099,), lr=0.05, weight_decay=0.01, nesterov=True),
    dict(shape=(1,)),
    dict(shape=(0,)),
    dict(shape=(37,), first=True, dampening=0.5),
    dict(shape=(129,), momentum=0.0, dampening=0.25, nesterov=True),
    dict(shape=(1031,), lr=0.5),
    dict(shape=(257,), momentum=0.5),
    dict(shape=(257,), weight_decay=0.5),
    dict(shape=(129,), strided=True),
    dict(shape=(155,), strided_state=True, nesterov=True),
    dict(shape=(33, 65), nesterov=True),
    dict(shape=(), weight_decay=0.01),
]

SIZES = [
    dict(shape=(1024,)),
    dict(shape=(524288,)),
    dict(shape=(16777216,), weight_decay=0.01, nesterov=True),
    dict(shape=(67108864,)),
]

CONTRACT = Close()


def sgd_step(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):  # fmt: skip
    if weight_decay != 0:
        grad = grad.add(param, alpha=weight_decay)
    if momentum == 0:
        return param.add_(grad, alpha=-lr), None
    if momentum_buffer is None:
        momentum_buffer = torch.zeros_like(grad)
    momentum_buffer.mul_(momentum).add_(grad, alpha=1 - dampening)
    grad = grad.add(momentum_buffer, alpha=momentum) if nesterov else momentum_buffer
    return param.add_(grad, alpha=-lr), momentum_buffer


def inputs(make, shape, first=False, strided=False, strided_state=False, **options):
    param, grad = make.plain(*shape), make.floats(*shape)
    buffer = None if first else make.plain(*shape)
    if strided:
        param, grad = make.strided(param), make.strided(grad)
    if strided_state:
        param, buffer = make.strided(param), make.strided(buffer)
    return call(param, grad, buffer, **options)


def positive_textbook(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):
    """One formula for the step, out of place and copied back."""
    grad = grad + weight_decay * param
    if momentum == 0:
        return param.copy_(param - lr * grad), None
    new = grad - dampening * grad
    new = new if momentum_buffer is None else momentum * momentum_buffer + new
    param.copy_(param - (lr * momentum * new + lr * grad if nesterov else lr * new))
    return param, new.clone() if momentum_buffer is None else momentum_buffer.copy_(new)


def negative_no_decay(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):
    return sgd_step(param, grad, momentum_buffer, lr, momentum, 0.0, dampening, nesterov)


def negative_no_dampening(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):
    return sgd_step(param, grad, momentum_buffer, lr, momentum, weight_decay, 0.0, nesterov)


def negative_undampened_first_step(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):
    """Starts a missing buffer with the whole gradient, as torch's optimizer does."""
    dampening = 0.0 if momentum_buffer is None else dampening
    return sgd_step(param, grad, momentum_buffer, lr, momentum, weight_decay, dampening, nesterov)


def negative_buffer_without_momentum(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):
    """Updates and returns the buffer even where momentum is 0."""
    param, new = sgd_step(param, grad, momentum_buffer, lr, momentum, weight_decay, dampening, nesterov)
    return param, new if momentum_buffer is None or momentum != 0 else momentum_buffer.copy_(grad)


def negative_never_nesterov(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):
    return sgd_step(param, grad, momentum_buffer, lr, momentum, weight_decay, dampening)


def negative_average(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):
    """Weights the gradient with 1 - momentum, as Adam's first moment does."""
    return sgd_step(param, grad, momentum_buffer, lr, momentum, weight_decay, momentum, nesterov)


def negative_dampened_without_momentum(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):
    grad = grad * (1 - dampening) if momentum == 0 else grad
    return sgd_step(param, grad, momentum_buffer, lr, momentum, weight_decay, dampening, nesterov)


def negative_out_of_place(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):
    """Returns the right values and leaves the arguments as they were."""
    buffer = None if momentum_buffer is None else momentum_buffer.clone()
    return sgd_step(param.clone(), grad, buffer, lr, momentum, weight_decay, dampening, nesterov)


def negative_returns_old_buffer(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):
    """Steps by a buffer that it does not keep."""
    new = None if momentum_buffer is None else momentum_buffer.clone()
    _, new = sgd_step(param, grad, new, lr, momentum, weight_decay, dampening, nesterov)
    return param, new if momentum_buffer is None or momentum == 0 else momentum_buffer
