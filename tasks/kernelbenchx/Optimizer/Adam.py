"""One step of the Adam optimizer for a list of parameters, in place.

`Adam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0)`. No optimizer object leaves the call: its state
is passed in, and the step is done at once. `params` is a list with a dict per parameter:

- `"param"`, `"grad"`, `"exp_avg"`, `"exp_avg_sq"`: float32 tensors of one shape, the last two being the moments;
- `"step"`: an int, the number `t` of this step, counted from 1; parameters may be at different steps.

For each parameter, with `beta1, beta2 = betas`:

1. `g = grad + weight_decay * param`: the decay is part of the gradient (not decoupled from it as in AdamW);
2. `exp_avg = beta1 * exp_avg + (1 - beta1) * g`;
3. `exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * g * g`;
4. `denom = sqrt(exp_avg_sq) / sqrt(1 - beta2**t) + eps`;
5. `param = param - lr / (1 - beta1**t) * exp_avg / denom`.

`"param"`, `"exp_avg"` and `"exp_avg_sq"` are updated in place; `"grad"` and `"step"` are not changed. Returned is a
list, in the order of `params`, of the tuples `(param, exp_avg, exp_avg_sq)` of these very tensors. Shapes differ
between parameters, and may be empty; each tensor may have strides of its own; the list may be empty too. `1 - beta` may
be a float32 difference.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "optimizer", "in-place", "memory-bound")
MUTATES = ("params",)

CASES = [
    dict(shapes=[(2, 3)], steps=[1], fresh=True),
    dict(shapes=[(37, 45)], steps=[1], fresh=True, lr=0.01),
    dict(shapes=[(1031, 3)], steps=[1], fresh=True, betas=(0.85, 0.95)),
    dict(shapes=[(7, 257)], steps=[1], fresh=True, weight_decay=0.01),
    dict(shapes=[(33, 65)], steps=[1], fresh=True, lr=0.005),
    dict(shapes=[(1, 1)], steps=[1], fresh=True),
    dict(shapes=[(37,)], steps=[1], fresh=True),
    dict(shapes=[(0, 4)], steps=[1], fresh=True),
    dict(shapes=[(33, 65)], steps=[1], fresh=True, strided=True),
    dict(shapes=[(33, 65)], steps=[1], fresh=True, lr=0.1, weight_decay=0.5),
    dict(shapes=[(33, 65)], steps=[1], fresh=True, betas=(0.5, 0.9)),
    dict(shapes=[(33, 65)], steps=[1], fresh=True, eps=1e-2),
    dict(shapes=[(33, 65)], steps=[7]),
    dict(shapes=[(100, 10), (0, 4), (5, 7)], steps=[40, 1, 2], weight_decay=0.01),
    dict(shapes=[(1000,), ()], steps=[10, 2], strided_state=True),
]

SIZES = [
    dict(shapes=[(64, 64)], steps=[1]),
    dict(shapes=[(1024, 1024), (1024, 4)], steps=[100, 100]),
    dict(shapes=[(4096, 4096), (4096, 4)], steps=[100, 100], weight_decay=0.01),
    dict(shapes=[(65536, 1024)], steps=[100]),
]

# 1 - 0.999 in float32 is off by 1.3e-5 of itself, 216 times the roundoff, which a large gradient's moment takes over: twice that.
CONTRACT = Close(growth=16)


def Adam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0):
    return [_step(**entry, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay) for entry in params]


def _step(param, grad, exp_avg, exp_avg_sq, step, lr, betas, eps, weight_decay):
    beta1, beta2 = betas
    if weight_decay != 0:
        grad = grad.add(param, alpha=weight_decay)
    exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
    exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    denom = (exp_avg_sq.sqrt() / (1 - beta2**step) ** 0.5).add_(eps)
    param.addcdiv_(exp_avg, denom, value=-lr / (1 - beta1**step))
    return param, exp_avg, exp_avg_sq


def inputs(make, shapes, steps, strided=False, strided_state=False, fresh=False, **options):
    """`fresh` starts from empty moments and small parameters, as the first step of a training run does."""
    params = []
    for shape, step in zip(shapes, steps, strict=True):
        if fresh:
            param, grad = make.plain(*shape, low=-1.5, high=1.5), make.floats(*shape, low=-1.5, high=1.5)
            exp_avg, exp_avg_sq = torch.zeros_like(param), torch.zeros_like(param)
        else:
            param, grad = make.plain(*shape), make.floats(*shape)
            exp_avg, exp_avg_sq = 0.1 * make.plain(*shape), make.plain(*shape, low=1e-6, high=1.0)
        if strided:
            param, grad, exp_avg = make.strided(param), make.strided(grad), make.strided(exp_avg)
        if strided_state:
            param, exp_avg_sq = make.strided(param), make.strided(exp_avg_sq)
        params.append(dict(param=param, grad=grad, exp_avg=exp_avg, exp_avg_sq=exp_avg_sq, step=step))
    return call(params, **options)


def positive_textbook(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0):
    """Moments corrected one by one, out of place and copied back, with `1 - beta` in float32."""
    beta1, beta2 = betas
    rest1, rest2 = (float(1 - torch.tensor(beta)) for beta in betas)
    result = []
    for entry in params:
        param, m, v, step = entry["param"], entry["exp_avg"], entry["exp_avg_sq"], entry["step"]
        g = entry["grad"] + weight_decay * param
        m.copy_(beta1 * m + rest1 * g)
        v.copy_(beta2 * v + rest2 * (g * g))
        root = torch.sqrt(v / (1 - beta2**step))
        result.append((param.copy_(param - lr * (m / (1 - beta1**step)) / (root + eps)), m, v))
    return result


def negative_decoupled_decay(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0):
    """AdamW."""
    for entry in params:
        entry["param"].mul_(1 - lr * weight_decay)
    return Adam(params, lr, betas, eps)


def negative_ignores_decay(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0):
    return Adam(params, lr, betas, eps)


def negative_no_bias_correction(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0):
    """Forgets that young moments are too small."""
    return Adam([{**entry, "step": 10**9} for entry in params], lr, betas, eps, weight_decay)


def negative_one_step_for_all(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0):
    """Corrects every parameter's moments by the first one's step."""
    return Adam([{**entry, "step": params[0]["step"]} for entry in params], lr, betas, eps, weight_decay)


def negative_eps_before_correction(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0):
    """Adds eps to the root before it is corrected."""
    return [Adam([entry], lr, betas, eps / (1 - betas[1] ** entry["step"]) ** 0.5, weight_decay)[0] for entry in params]


def negative_changes_grad(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0):
    """Adds the decay to the gradient that was passed in."""
    for entry in params:
        entry["grad"].add_(entry["param"], alpha=weight_decay)
    return Adam(params, lr, betas, eps)


def negative_default_betas(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0):
    return Adam(params, lr, (0.9, 0.999), eps, weight_decay)


def negative_out_of_place(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0):
    """Returns the right values and leaves the arguments as they were."""
    copies = [{k: v if k == "step" else v.clone() for k, v in entry.items()} for entry in params]
    return Adam(copies, lr, betas, eps, weight_decay)
