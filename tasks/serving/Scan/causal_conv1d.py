"""Causal depthwise convolution over time with SiLU, and the state that a following chunk needs: Mamba's short convolution.

`causal_conv1d(x, weight, bias, state)` returns the tuple `(out, new_state)`:

- `out[b, d, t] = silu(bias[d] + sum over w of weight[d, w] · x[b, d, t − (W − 1) + w])`, where `x[b, d, −i]` for `i ≥ 1` is `state[b, d, W − 1 −
  i]`, what came before this chunk, and `silu(a) = a / (1 + exp(−a))`;
- `new_state[b, d]` is the last `W − 1` elements of `state[b, d]` followed by `x[b, d]`, exactly. `L` may be less than `W − 1`: then a part of
  `state` stays.

`x` is bfloat16 `(B, D, L)`, `weight` bfloat16 `(D, W)` with `W` 2, 3 or 4, `bias` bfloat16 `(D,)`, `state` bfloat16 `(B, D, W − 1)`; all are
contiguous, `L ≥ 1`. `out` is `(B, D, L)`, `new_state` `(B, D, W − 1)`, both bfloat16, new and contiguous. `state` is not changed. The arithmetic
is float32, rounded once. Values reach several hundred: `exp` of them overflows.

Sizes: inner widths of Mamba-130M (1536) and 2.8B (5120), Falcon-Mamba-7B and Jamba (8192), Mamba-2 2.7B (5376, with B and C), and of the mixed
QKV of Qwen3-Next (8192), all four wide, after their model cards: prefills, and a decode batch. Weights are in proportion to the elements, decode
counted 64 times.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "bfloat16"
TAGS = ("convolution", "scan", "memory-bound", "inference")

CASES = [
    dict(batch=2, width=37, length=131),
    dict(batch=1, width=64, length=67),
    dict(batch=3, width=33, length=1),
    dict(batch=1, width=5, length=1031),
    dict(batch=2, width=130, length=2),
    dict(batch=1, width=1, length=257, taps=2),
    dict(batch=1, width=45, length=64, taps=3),
    dict(batch=5, width=19, length=33),
    dict(batch=2, width=7, length=300, fresh=True),
]

SIZES = [
    dict(batch=256, width=5120, length=1),
    dict(batch=8, width=1536, length=2048),
    dict(batch=1, width=5120, length=4096),
    dict(batch=1, width=8192, length=8192),
    dict(batch=4, width=5376, length=4096),
    dict(batch=8, width=8192, length=2048),
]
WEIGHTS = [8.4, 2.5, 2.1, 6.7, 8.8, 13.4]

CONTRACT = Close(strides="contiguous")


def causal_conv1d(x, weight, bias, state):
    wide = torch.promote_types(x.dtype, torch.float32)
    past = torch.cat([state, x], 2)
    conv = torch.nn.functional.conv1d(past.to(wide), weight.to(wide)[:, None], bias.to(wide), groups=x.shape[1])
    return torch.nn.functional.silu(conv).to(x.dtype), past[:, :, x.shape[2] :].contiguous()


def inputs(make, batch, width, length, taps=4, fresh=False):
    """`fresh`: nothing came before."""
    state = make.floats(batch, width, taps - 1)
    state = torch.zeros_like(state) if fresh else state
    return call(make.floats(batch, width, length), make.plain(width, taps), make.plain(width), state)


def _sum(x, weight, bias, state):
    """The convolution without SiLU, tap by tap."""
    past = torch.cat([state, x], 2).float()
    acc = bias.float()[:, None].expand_as(x).clone()
    for w in range(weight.shape[1]):
        acc += weight.float()[:, w, None] * past[:, :, w : w + x.shape[2]]
    return acc, past[:, :, x.shape[2] :].to(x.dtype).contiguous()


def _silu(a):
    return a / (1 + torch.exp2(-1.4426950408889634 * a))


def positive_taps(x, weight, bias, state):
    acc, after = _sum(x, weight, bias, state)
    return _silu(acc).to(x.dtype), after


def positive_windows(x, weight, bias, state):
    """A matrix product of windows."""
    past = torch.cat([state, x], 2)
    acc = torch.einsum("bdtw,dw->bdt", past.unfold(2, weight.shape[1], 1).float(), weight.float())
    return _silu(acc + bias.float()[:, None]).to(x.dtype).contiguous(), past[:, :, -state.shape[2] :].contiguous()


def negative_no_state(x, weight, bias, state):
    """Begins with zeros, whatever came before."""
    acc, _ = _sum(x, weight, bias, torch.zeros_like(state))
    return _silu(acc).to(x.dtype), torch.cat([state, x], 2)[:, :, x.shape[2] :].contiguous()


def negative_taps_reversed(x, weight, bias, state):
    acc, after = _sum(x, weight.flip(1), bias, state)
    return _silu(acc).to(x.dtype), after


def negative_no_silu(x, weight, bias, state):
    acc, after = _sum(x, weight, bias, state)
    return acc.to(x.dtype), after


def negative_no_bias(x, weight, bias, state):
    acc, after = _sum(x, weight, torch.zeros_like(bias), state)
    return _silu(acc).to(x.dtype), after


def negative_not_causal(x, weight, bias, state):
    """One step into the future."""
    acc, after = _sum(torch.cat([x[:, :, 1:], torch.zeros_like(x[:, :, :1])], 2), weight, bias, state)
    return _silu(acc).to(x.dtype), torch.cat([state, x], 2)[:, :, x.shape[2] :].contiguous()


def negative_state_not_shifted(x, weight, bias, state):
    """Returns the state as it was."""
    return positive_taps(x, weight, bias, state)[0], state.clone()


def negative_state_of_this_chunk_only(x, weight, bias, state):
    """Fills a short chunk up with zeros."""
    after = torch.cat([torch.zeros_like(state), x], 2)[:, :, x.shape[2] :]
    return positive_taps(x, weight, bias, state)[0], after.contiguous()


def negative_state_reversed(x, weight, bias, state):
    acc, _ = _sum(x, weight, bias, state.flip(2))
    return _silu(acc).to(x.dtype), torch.cat([state, x], 2)[:, :, x.shape[2] :].contiguous()


def negative_chunks_without_history(x, weight, bias, state):
    """Blocks of 64 steps that do not see what came before them."""
    parts, after = [], torch.cat([state, x], 2)[:, :, x.shape[2] :].contiguous()
    for part in x.split(64, 2):
        parts.append(_silu(_sum(part, weight, bias, state)[0]))
        state = torch.zeros_like(state)
    return torch.cat(parts, 2).to(x.dtype), after


def negative_sums_in_bfloat16(x, weight, bias, state):
    past = torch.cat([state, x], 2)
    acc = bias[:, None].expand_as(x)
    for w in range(weight.shape[1]):
        acc = acc + weight[:, w, None] * past[:, :, w : w + x.shape[2]]
    return _silu(acc.float()).to(x.dtype), past[:, :, x.shape[2] :].contiguous()


def negative_rounded_before_silu(x, weight, bias, state):
    acc, after = _sum(x, weight, bias, state)
    return _silu(acc.to(x.dtype).float()).to(x.dtype), after
