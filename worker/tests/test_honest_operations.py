"""Plain references of operations that engineers bring: honest kernels' arithmetic takes half of the allowance, a classic mistake twice as much.

``reference`` is what a user's file holds; ``honest`` computes the same as kernels do, in blocks, by other formulas, in float32 with one rounding (and
of probabilities before a product); ``mistakes`` are such results with one thing wrong. All take the same arguments.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from kbx.oracle.namesakes import GROWTH
from kbx.suite import Close, Inputs, call
from kbx.suite.values import transform

BLOCK = 16
HALF = ("float16", "bfloat16")
ALL = ("float32", *HALF)


@dataclass
class Operation:
    """``inputs(make)`` draws the arguments with floating-point tensors of ``make``'s dtype; ``mistakes`` by name."""

    reference: Callable[..., Any]
    inputs: Callable[[Inputs], tuple[Any, ...]]
    honest: Callable[..., Any]
    mistakes: dict[str, Callable[..., Any]]
    dtypes: tuple[str, ...] = ALL


OPERATIONS: dict[str, Operation] = {}


def operation(inputs, dtypes=ALL, **mistakes):
    """Registers the reference, whose name is the operation's; its ``honest`` is the function of that name in ``HONEST``. A mistake is a
    set of keyword arguments of ``honest``, or a function."""

    def register(reference):
        name = reference.__name__
        honest = HONEST[name]
        wrong = {k: functools.partial(honest, **v) if isinstance(v, dict) else v for k, v in mistakes.items()}
        OPERATIONS[name] = Operation(reference, inputs, honest, wrong, dtypes)
        return reference

    return register


HONEST: dict[str, Callable[..., Any]] = {}


def honest(function):
    HONEST[function.__name__.removeprefix("honest_")] = function
    return function


def total(x, dim=-1):
    """A sum in float32, a block after the other."""
    return functools.reduce(torch.add, (part.sum(dim) for part in x.float().split(BLOCK, dim)))


def product(a, b):
    """A product that is added up in float32, a block of its terms after the other."""
    parts = zip(a.float().split(BLOCK, -1), b.float().split(BLOCK, -2), strict=True)
    return functools.reduce(torch.add, (x @ y for x, y in parts))


def mean(x, dim=-1):
    return total(x, dim).unsqueeze(dim) / x.shape[dim]


def exp(x):
    """As hardware has it."""
    return torch.exp2(x.float() * 1.4426950408889634)


def sigmoid(x):
    return 1 / (1 + exp(-x))


# ---------------------------------------------------------------- activations


@honest
def honest_gelu(x, quick=False, factor=1.0):
    x_ = x.float()
    y = x_ * sigmoid(1.702 * x_) if quick else 0.5 * x_ * torch.erfc(-x_ * 0.5**0.5)
    return (factor * y).to(x.dtype)


@operation(lambda make: (make.floats(64, 100),), quick={"quick": True}, relu=F.relu, scaled={"factor": 1.01})
def gelu(x):
    return F.gelu(x)


@honest
def honest_silu(x, hard=False):
    return (F.hardswish(x.float()) if hard else x.float() * sigmoid(x)).to(x.dtype)


@operation(lambda make: (make.floats(64, 100),), hard={"hard": True})
def silu(x):
    return x * torch.sigmoid(x)


@honest
def honest_swiglu(x, swapped=False, interleaved=False):
    gate, up = (x[:, ::2], x[:, 1::2]) if interleaved else x.chunk(2, -1)
    gate, up = (up, gate) if swapped else (gate, up)
    return (gate.float() * sigmoid(gate) * up.float()).to(x.dtype)


@operation(lambda make: (make.floats(31, 128),), swapped={"swapped": True}, interleaved={"interleaved": True})
def swiglu(x):
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


# ---------------------------------------------------------------- normalizations


@honest
def honest_rms_norm(x, weight, centred=False, terms=None):
    x_ = x.float() - mean(x) if centred else x.float()
    square = total(x_[:, :terms].square()).unsqueeze(-1) / x.shape[-1]
    return (x_ * torch.rsqrt(square + 1e-5) * weight.float()).to(x.dtype)


@operation(lambda make: (make.floats(40, 512), make.floats(512)), layer_norm={"centred": True}, part={"terms": 450})
def rms_norm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight


@honest
def honest_layer_norm(x, weight, bias, centred=True, shifted=True):
    x_ = x.float() + 0
    middle = mean(x_)
    square = mean((x_ - middle).square()) if centred else mean(x_.square())
    y = (x_ - middle) * torch.rsqrt(square + 1e-5) * weight.float()
    return (y + bias.float() if shifted else y).to(x.dtype)


@operation(
    lambda make: (make.floats(40, 300) + 0.5, make.floats(300), make.floats(300)),
    variance_about_zero={"centred": False}, no_bias={"shifted": False},
)  # fmt: skip
def layer_norm(x, weight, bias):
    return F.layer_norm(x, (x.shape[-1],), weight, bias)


@honest
def honest_add_rms_norm(x, residual, weight, forgotten=False):
    added = (x.float() + residual.float()).to(x.dtype)
    return honest_rms_norm(x if forgotten else added, weight), added


@operation(
    lambda make: (make.floats(40, 256), make.floats(40, 256), make.floats(256)), residual_forgotten={"forgotten": True}
)
def add_rms_norm(x, residual, weight):
    residual = x + residual
    wide = residual.to(torch.promote_types(residual.dtype, torch.float32))
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * weight, residual


@honest
def honest_group_norm(x, groups, weight, interleaved=False):
    n, c, length = x.shape
    parts = (
        x.float().view(n, c // groups, groups, length).transpose(1, 2)
        if interleaved
        else x.float().view(n, groups, -1, length)
    )
    flat = parts.reshape(n, groups, -1)
    y = (flat - mean(flat)) * torch.rsqrt(mean((flat - mean(flat)).square()) + 1e-5)
    y = y.view(n, groups, -1, length)
    y = (y.transpose(1, 2) if interleaved else y).reshape(x.shape)
    return (y * weight.float()[:, None]).to(x.dtype)


@operation(lambda make: (make.floats(6, 12, 20), 4, make.floats(12)), interleaved={"interleaved": True})
def group_norm(x, groups, weight):
    return F.group_norm(x, groups, weight)


# ---------------------------------------------------------------- softmax, losses


@honest
def honest_softmax(x, left_out=0):
    e = exp(x.float() - x.amax(-1, keepdim=True))
    return (e / total(e[:, left_out:]).unsqueeze(-1)).to(x.dtype)


@operation(lambda make: (make.floats(64, 100),), one_left_out={"left_out": 2})
def softmax(x):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def _logits(make):
    target = make.ints(200, low=0, high=50)
    target[::5] = -100
    return make.floats(200, 50), target


@honest
def honest_cross_entropy(x, target, every=False):
    used = target != -100
    top = x.float().amax(-1)
    each = (
        top + torch.log(total(exp(x.float() - top[:, None]))) - x.float().gather(1, target.clamp(min=0)[:, None])[:, 0]
    )
    return (total(each * used) / (len(x) if every else used.sum())).to(x.dtype)


@operation(_logits, mean_over_ignored={"every": True})
def cross_entropy(x, target):
    return F.cross_entropy(x, target)


@honest
def honest_cross_entropy_backward(x, target, every=False, ignored=True):
    used = target != -100
    grad = honest_softmax(x.float()) - F.one_hot(target.clamp(min=0), x.shape[1])
    return (grad * (used[:, None] if ignored else 1) / (len(x) if every else used.sum())).to(x.dtype)


@operation(_logits, mean_over_ignored={"every": True}, ignored_rows_counted={"ignored": False})
def cross_entropy_backward(x, target):
    used = target != -100
    grad = torch.softmax(x, -1) - F.one_hot(target.clamp(min=0), x.shape[1])
    return (grad * used[:, None] / used.sum()).to(x.dtype)


# ---------------------------------------------------------------- attention


def online(q, k, v, seen, scale=None):
    """Attention in one pass over blocks of keys, with probabilities in the dtype of the values; ``seen`` says which a query may see."""
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    top = torch.full(q.shape[:-1], -math.inf)
    denominator, out = torch.zeros(q.shape[:-1]), torch.zeros(*q.shape[:-1], v.shape[-1])
    for at in range(0, k.shape[-2], BLOCK):
        part = slice(at, at + BLOCK)
        scores = (q.float() @ k[..., part, :].float().mT * scale).masked_fill(~seen[..., part], -math.inf)
        new = torch.maximum(top, scores.amax(-1))
        safe = torch.where(new.isinf(), 0, new)
        p, shrink = exp(scores - safe[..., None]), exp(top - safe)
        denominator = denominator * shrink + p.sum(-1)
        out = out * shrink[..., None] + p.to(v.dtype).float() @ v[..., part, :].float()
        top = new
    return (out / denominator[..., None]).to(q.dtype)


def _causal(n, offset=0):
    return torch.ones(n, n, dtype=torch.bool).tril(offset)


def _heads(make, n=64, d=32):
    return make.floats(3, n, d), make.floats(3, n, d), make.floats(3, n, d)


@honest
def honest_causal_attention(q, k, v, offset=0, scale=None):
    return online(q, k, v, _causal(q.shape[-2], offset), scale)


@operation(_heads, sees_the_next={"offset": 1}, not_scaled={"scale": 1.0})
def causal_attention(q, k, v):
    scores = q @ k.mT * q.shape[-1] ** -0.5
    return torch.softmax(scores.masked_fill(~_causal(q.shape[-2]), -math.inf), -1) @ v


def _masked(make):
    seen = make.bools(64, 64, p=0.7) | torch.eye(64, dtype=torch.bool)
    return *_heads(make), torch.where(seen, 0.0, -math.inf)


@honest
def honest_masked_attention(q, k, v, mask, ignored=False):
    return online(q, k, v, torch.ones(64, 64, dtype=torch.bool) if ignored else mask == 0)


@operation(_masked, mask_ignored={"ignored": True})
def masked_attention(q, k, v, mask):
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5 + mask.to(q.dtype), -1) @ v


def _pages(make):
    return (
        make.floats(5, 32),
        make.floats(40, 8, 32),
        make.floats(40, 8, 32),
        torch.randperm(40).view(5, 8),
        torch.tensor([3, 64, 17, 40, 9]),
    )


@honest
def honest_paged_decode(q, keys, values, table, lengths, more=0, in_order=False):
    rows = []
    for i in range(len(q)):
        pages = torch.arange(8) + 8 * i if in_order else table[i]
        k, v = (t[pages].flatten(0, 1) for t in (keys, values))
        rows.append(online(q[i : i + 1], k, v, (torch.arange(len(k)) < lengths[i] + more)[None]))
    return torch.cat(rows)


@operation(_pages, one_more_position={"more": 1}, table_ignored={"in_order": True})
def paged_decode(q, keys, values, table, lengths):
    k, v = (t[table].flatten(1, 2) for t in (keys, values))
    scores = (q[:, None] @ k.mT)[:, 0] * q.shape[-1] ** -0.5
    scores = scores.masked_fill(torch.arange(k.shape[1]) >= lengths[:, None], -math.inf)
    return (torch.softmax(scores, -1)[:, None] @ v)[:, 0]


@honest
def honest_rope(x, cos, sin, interleaved=False, sign=1):
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    turned = torch.complex(a.float(), b.float()) * torch.complex(cos.float(), sign * sin.float())
    return (
        torch.stack([turned.real, turned.imag], -1).flatten(-2)
        if interleaved
        else torch.cat([turned.real, turned.imag], -1)
    ).to(x.dtype)


def _angles(make):
    angles = torch.arange(30)[:, None] * 10000 ** -(torch.arange(16) / 16)
    return make.floats(4, 30, 32), angles.cos().to(make.dtype), angles.sin().to(make.dtype)


@operation(_angles, interleaved={"interleaved": True}, backwards={"sign": -1})
def rope(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


# ---------------------------------------------------------------- products


@honest
def honest_linear_relu(x, weight, bias, biased=True, terms=None):
    y = product(x[:, :terms], weight[:, :terms].mT)
    return (y + bias.float() if biased else y).relu().to(x.dtype)


@operation(
    lambda make: (make.floats(33, 200), make.floats(50, 200) * 200**-0.5, make.floats(50)), no_bias={"biased": False}, tail={"terms": 192},
)  # fmt: skip
def linear_relu(x, weight, bias):
    return F.relu(F.linear(x, weight, bias))


@honest
def honest_grouped_gemm(x, weights, ends, shifted=0, transposed=False):
    groups = (torch.arange(len(x))[:, None] >= ends + shifted).sum(-1).clamp(max=len(ends) - 1)
    rows = [product(row[None], weights[g].mT if transposed else weights[g]) for row, g in zip(x, groups, strict=True)]
    return torch.cat(rows).to(x.dtype)


@operation(
    lambda make: (make.floats(60, 48), make.floats(4, 48, 48), torch.tensor([7, 30, 31, 60])),
    one_row_late={"shifted": 1}, transposed={"transposed": True},
)  # fmt: skip
def grouped_gemm(x, weights, ends):
    begins = [0, *ends.tolist()]
    return torch.cat([x[a:b] @ w for a, b, w in zip(begins, ends.tolist(), weights, strict=False)])


@honest
def honest_moe(x, gate, experts, normalized=True, sorted_=True):
    scores = product(x, gate)
    values, chosen = honest_softmax(scores).topk(2)
    weight = values / values.sum(-1, keepdim=True) if normalized else values
    chosen = chosen if sorted_ else chosen.flip(-1)
    parts = [
        product(row[None], experts[e]) * w
        for row, es, ws in zip(x, chosen, weight, strict=True)
        for e, w in zip(es, ws, strict=True)
    ]
    return torch.cat(parts).view(len(x), 2, -1).sum(1).to(x.dtype)


@operation(
    lambda make: (make.floats(24, 64), make.floats(64, 8), make.floats(8, 64, 40) / 8),
    not_normalized={"normalized": False}, weights_exchanged={"sorted_": False},
)  # fmt: skip
def moe(x, gate, experts):
    wide = torch.promote_types(x.dtype, torch.float32)
    values, chosen = torch.softmax(x.to(wide) @ gate.to(wide), -1).topk(2)
    weight = (values / values.sum(-1, keepdim=True)).to(x.dtype)
    return (torch.einsum("nd,nkdh->nkh", x, experts[chosen]) * weight[..., None]).sum(1)


@honest
def honest_causal_conv1d(x, weight, flipped=False, late=0):
    weight = weight.flip(-1) if flipped else weight
    padded = F.pad(x.float(), (weight.shape[-1] - 1 - late, late))
    taps = (padded[..., i : i + x.shape[-1]] * weight[:, i, None].float() for i in range(weight.shape[-1]))
    return functools.reduce(torch.add, taps).to(x.dtype)


@operation(
    lambda make: (make.floats(2, 12, 70), make.floats(12, 4)), flipped={"flipped": True}, sees_the_next={"late": 1}
)
def causal_conv1d(x, weight):
    return F.conv1d(F.pad(x, (3, 0)), weight[:, None], groups=len(weight))


# ---------------------------------------------------------------- scans, movement


@honest
def honest_cumsum(x, exclusive=False, carry=True):
    parts = [part.cumsum(-1) for part in x.float().split(BLOCK, -1)]
    before = torch.zeros_like(parts[0][..., -1:])
    found = []
    for part in parts:
        found.append(part + before if carry else part)
        before = before + part[..., -1:]
    y = torch.cat(found, -1)
    return (y - x.float() if exclusive else y).to(x.dtype)


@operation(lambda make: (make.floats(20, 200),), exclusive={"exclusive": True}, no_carry={"carry": False})
def cumsum(x):
    return x.cumsum(-1)


@honest
def honest_state_scan(decay, x, late=False):
    decay_, x_ = decay.float(), x.float()
    if late:
        decay_ = F.pad(decay_, (1, 0))[..., :-1]
    logs = decay_.clamp(min=1e-30).log().cumsum(-1)
    found, before = [], torch.zeros(len(x), 1)
    for at in range(0, x.shape[-1], BLOCK):  # a block of steps at once
        part = logs[:, at : at + BLOCK] - (logs[:, at - 1 : at] if at else 0)
        ratios = (part[:, :, None] - part[:, None, :]).exp().tril()
        inner = (ratios @ x_[:, at : at + BLOCK, None])[..., 0]
        found.append(inner + part.exp() * before)
        before = found[-1][:, -1:]
    return torch.cat(found, -1).to(x.dtype)


@operation(
    lambda make: (torch.sigmoid(make.floats(6, 64) + 1), make.floats(6, 64)), decay_of_the_step_before={"late": True}
)
def state_scan(decay, x):
    state, found = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[-1]):
        state = decay[:, t] * state + x[:, t]
        found.append(state)
    return torch.stack(found, -1)


@honest
def honest_embedding(ids, table, next_row=0):
    return (table.float()[(ids + next_row) % len(table)] * table.shape[1] ** 0.5).to(table.dtype)


@operation(lambda make: (make.ints(50, low=0, high=30), make.floats(30, 48)), next_row={"next_row": 1})
def embedding(ids, table):
    return F.embedding(ids, table) * table.shape[1] ** 0.5


@honest
def honest_top_k(x, absolute=False):
    found = x.sort(-1, descending=True).values[:, :5]
    return x.gather(1, x.abs().topk(5).indices) if absolute else found


@operation(lambda make: (make.floats(40, 90),), of_magnitudes={"absolute": True})
def top_k(x):
    return x.topk(5).values


# ---------------------------------------------------------------- 8 bits


@honest
def honest_quantize_int8(x, cut=False, tensor=False):
    scale = x.float().abs().amax(None if tensor else -1, keepdim=True).expand(len(x), 1) / 127
    levels = x.float() * (1 / scale)
    return (levels.trunc() if cut else levels.round()).to(torch.int8), scale.contiguous()


@operation(lambda make: (make.floats(48, 128),), cut_off={"cut": True}, scale_of_the_tensor={"tensor": True})
def quantize_int8(x):
    scale = x.abs().amax(-1, keepdim=True).to(torch.promote_types(x.dtype, torch.float32)) / 127
    return torch.round(x / scale).to(torch.int8), scale.float()


@honest
def honest_quantize_blocks(x, factor=1.0, tensor=False):
    blocks = x.float().view(len(x), -1, 32)
    scale = (blocks.abs().amax() if tensor else blocks.abs().amax(-1)).expand(blocks.shape[:2]) / 448
    return (blocks * (factor / scale)[..., None]).view(x.shape).to(torch.float8_e4m3fn), scale.contiguous()


@operation(lambda make: (make.floats(48, 128),), scaled={"factor": 1.02}, scale_of_the_tensor={"tensor": True})
def quantize_blocks(x):
    blocks = x.float().view(len(x), -1, 32)
    scale = blocks.abs().amax(-1) / 448
    return (blocks / scale[..., None]).view(x.shape).to(torch.float8_e4m3fn), scale


def _eight_bits(make, *shape):
    return make.floats(*shape, dtype=torch.float32).to(make.dtype)


@honest
def honest_gemm_8_bits(a, b, row, column, no_scale=False):
    y = product(a, b) * row
    return (y if no_scale else y * column).to(torch.bfloat16)


@operation(
    lambda make: (
        _eight_bits(make, 32, 64), _eight_bits(make, 64, 40), *(make.plain(*s, dtype=torch.float32, low=0.5, high=2) for s in ((32, 1), (40,))),
    ),
    ("float8_e4m3fn", "float8_e5m2"), one_scale_forgotten={"no_scale": True},
)  # fmt: skip
def gemm_8_bits(a, b, row, column):
    return ((a.float() @ b.float()) * row * column).to(torch.bfloat16)


@honest
def honest_add_8_bits(x, y, sign=1):
    return (x.float() + sign * y.float()).to(x.dtype)


@operation(
    lambda make: (_eight_bits(make, 40, 64), _eight_bits(make, 40, 64)),
    ("float8_e4m3fn", "float8_e5m2"),
    minus={"sign": -1},
)
def add_8_bits(x, y):
    return (x.float() + y.float()).to(x.dtype if x.element_size() == 1 else torch.float64)


CASES = [(name, dtype) for name, each in OPERATIONS.items() for dtype in each.dtypes]


def ratio(each, arguments, result):
    """The largest part of the allowance that a result takes: infinite where it is wrong in another way than by so much."""

    def widened(leaf):
        return leaf.double() if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else leaf

    expected, truth = each.reference(*arguments), each.reference(*transform(arguments, widened))
    outcome = Close(growth=GROWTH).compare(call(*arguments), [result], expected, truth)
    found = outcome.metrics.get("error_ratio", 0.0)
    return found if outcome.right or found > 1 else math.inf


@pytest.mark.parametrize(("name", "dtype"), CASES)
@pytest.mark.parametrize("seed", range(3))
def test_honest_arithmetic_takes_half_of_the_allowance_and_a_mistake_twice(name, dtype, seed):
    each = OPERATIONS[name]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        arguments = each.inputs(Inputs(dtype, seed=f"{name} {seed}"))
    assert ratio(each, arguments, each.honest(*arguments)) <= 0.5
    for mistake, wrong in each.mistakes.items():
        assert ratio(each, arguments, wrong(*arguments)) >= 2, mistake


def test_twenty_operations_are_covered():
    assert len(OPERATIONS) >= 20
    assert {dtype for _, dtype in CASES} == {*ALL, "float8_e4m3fn", "float8_e5m2"}
