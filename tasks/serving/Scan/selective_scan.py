"""The selective scan of Mamba: a diagonal state space model whose steps depend on the input, with its gate.

`selective_scan(u, delta, A, B, C, D, z, delta_bias, state)` returns the tuple `(out, new_state)`. For each batch `b`, channel `d` and state `n`, with
`dt[t] = log(1 + exp(delta[b, d, t] + delta_bias[d]))` (softplus) and `h[−1] = state[b, d, n]`,

    h[t, n] = exp(dt[t] · A[d, n]) · h[t − 1, n] + dt[t] · B[b, n, t] · u[b, d, t]
    y[t]    = D[d] · u[b, d, t] + sum over n of C[b, n, t] · h[t, n]
    out[b, d, t] = y[t] · silu(z[b, d, t]),      silu(a) = a / (1 + exp(−a))

and `new_state[b, d, n] = h[L − 1, n]`.

- `u`, `delta` and `z` are bfloat16 `(B, Dm, L)`, `B` and `C` bfloat16 `(B, N, L)`; `A` is float32 `(Dm, N)` and negative, `D` and `delta_bias`
  are float32 `(Dm,)`, `state` is float32 `(B, Dm, N)`. All are contiguous, `L ≥ 1`; `N` is 8 or 16. `delta + delta_bias` is at most 20.
- `out` is bfloat16 `(B, Dm, L)`, `new_state` float32 `(B, Dm, N)`, both new and contiguous; `state` is not changed. The arithmetic and the states
  are float32; `out` is rounded once.

Sizes: inner width 1536 of Mamba-130M, 5120 of Mamba-2.8B, and 8192 of Falcon-Mamba-7B and Jamba, 16 states, after their model cards; prefill
chunks. Weights are in proportion to the elements of `u`.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 5
DTYPE = "bfloat16"
TAGS = ("scan", "state-space", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "zeros")

CASES = [
    dict(batch=2, width=5, length=67),
    dict(batch=1, width=33, length=131),
    dict(batch=3, width=17, length=1),
    dict(batch=1, width=8, length=300),
    dict(batch=1, width=3, length=257, slow=True),
    dict(batch=2, width=19, length=64, states=8),
    dict(batch=1, width=40, length=19),
    dict(batch=1, width=1, length=129, fresh=True),
]

SIZES = [
    dict(batch=8, width=1536, length=512),
    dict(batch=1, width=5120, length=512),
    dict(batch=1, width=5120, length=2048),
    dict(batch=1, width=8192, length=1024),
    dict(batch=1, width=8192, length=2048),
    dict(batch=4, width=1536, length=2048),
]
WEIGHTS = [6.3, 2.6, 10.5, 8.4, 16.8, 12.6]

# A step's factor is off by a few roundings, and so are all states after it: they add up over as many steps as a state lasts, and exponentials of
# a GPU's hardware are off by three times as much.
CONTRACT = Close(growth=8, strides="contiguous")


def selective_scan(u, delta, A, B, C, D, z, delta_bias, state):
    x, gate = u.to(A.dtype), z.to(A.dtype)
    dt = torch.nn.functional.softplus(delta.to(A.dtype) + delta_bias[:, None])
    factor = torch.exp(dt[:, :, None] * A[:, :, None])
    h = dt[:, :, None] * x[:, :, None] * B.to(A.dtype)[:, None]
    h[..., 0] += factor[..., 0] * state
    step = 1
    while step < u.shape[2]:  # each pass joins stretches of so many steps
        h = torch.cat([h[..., :step], h[..., step:] + factor[..., step:] * h[..., :-step]], -1)
        factor = torch.cat([factor[..., :step], factor[..., step:] * factor[..., :-step]], -1)
        step *= 2
    y = (h * C.to(A.dtype)[:, None]).sum(2) + D[:, None] * x
    return (y * torch.nn.functional.silu(gate)).to(u.dtype), h[..., -1].contiguous()


def inputs(make, batch, width, length, states=16, slow=False, fresh=False):
    """`slow`: states that last for hundreds of steps; `fresh`: nothing came before."""
    wide = torch.float32
    u, z = make.floats(batch, width, length), make.plain(batch, width, length)
    delta = make.plain(batch, width, length)
    A = -make.plain(width, states, dtype=wide, low=0.01 if slow else 0.5, high=0.1 if slow else 16.0)
    B, C = make.plain(batch, states, length), make.plain(batch, states, length)
    bias = make.plain(width, dtype=wide, low=-6.0, high=-2.0)
    state = make.plain(batch, width, states, dtype=wide)
    state = torch.zeros_like(state) if fresh else state
    return call(u, delta, A, B, C, make.plain(width, dtype=wide), z, bias, state)


def _steps(u, delta, A, B, C, D, z, delta_bias, state, spoiled=""):
    """Step by step, spoiled in a way that a control names."""
    dt = delta.float() + (0 if spoiled == "no bias" else delta_bias[:, None])
    dt = dt if spoiled == "no softplus" else torch.log1p(dt.exp())
    h, ys = torch.zeros_like(state) if spoiled == "no state" else state, []
    for t in range(u.shape[2]):
        if t % 64 == 0 and t and spoiled == "chunks":
            h = torch.zeros_like(h)
        factor = torch.exp2(dt[:, :, t, None] * A * 1.4426950408889634)
        if spoiled == "Euler":
            factor = 1 + dt[:, :, t, None] * A
        add = (dt[:, :, t] * u[:, :, t].float())[:, :, None] * B[:, None, :, t].float()
        if spoiled == "input not scaled":
            add = u[:, :, t, None].float() * B[:, None, :, t].float()
        before, h = h, factor * h + add
        if spoiled == "bfloat16":
            h = h.bfloat16().float()
        ys.append(((before if spoiled == "late" else h) * C[:, None, :, t].float()).sum(2))
    y = torch.stack(ys, 2)
    if spoiled != "no skip":
        y = y + D[:, None] * u.float()
    gate = z.float() * torch.sigmoid(z.float()) if spoiled != "sigmoid" else torch.sigmoid(z.float())
    return (y if spoiled == "no gate" else y * gate).to(u.dtype), h


def positive_step_by_step(u, delta, A, B, C, D, z, delta_bias, state):
    return _steps(u, delta, A, B, C, D, z, delta_bias, state)


def negative_no_state(u, delta, A, B, C, D, z, delta_bias, state):
    """Begins with zeros, whatever came before."""
    return _steps(u, delta, A, B, C, D, z, delta_bias, state, "no state")


def negative_state_not_carried_over(u, delta, A, B, C, D, z, delta_bias, state):
    """Begins each chunk of 64 steps with zeros."""
    return _steps(u, delta, A, B, C, D, z, delta_bias, state, "chunks")


def negative_no_softplus(u, delta, A, B, C, D, z, delta_bias, state):
    return _steps(u, delta, A, B, C, D, z, delta_bias, state, "no softplus")


def negative_no_delta_bias(u, delta, A, B, C, D, z, delta_bias, state):
    return _steps(u, delta, A, B, C, D, z, delta_bias, state, "no bias")


def negative_first_order(u, delta, A, B, C, D, z, delta_bias, state):
    """`1 + dt · A` in place of the exponential."""
    return _steps(u, delta, A, B, C, D, z, delta_bias, state, "Euler")


def negative_input_not_scaled(u, delta, A, B, C, D, z, delta_bias, state):
    """Leaves `dt` out of the input's part."""
    return _steps(u, delta, A, B, C, D, z, delta_bias, state, "input not scaled")


def negative_state_before_the_step(u, delta, A, B, C, D, z, delta_bias, state):
    return _steps(u, delta, A, B, C, D, z, delta_bias, state, "late")


def negative_no_skip(u, delta, A, B, C, D, z, delta_bias, state):
    return _steps(u, delta, A, B, C, D, z, delta_bias, state, "no skip")


def negative_no_gate(u, delta, A, B, C, D, z, delta_bias, state):
    return _steps(u, delta, A, B, C, D, z, delta_bias, state, "no gate")


def negative_gate_without_its_argument(u, delta, A, B, C, D, z, delta_bias, state):
    return _steps(u, delta, A, B, C, D, z, delta_bias, state, "sigmoid")


def negative_states_in_bfloat16(u, delta, A, B, C, D, z, delta_bias, state):
    return _steps(u, delta, A, B, C, D, z, delta_bias, state, "bfloat16")


def negative_b_and_c_swapped(u, delta, A, B, C, D, z, delta_bias, state):
    return _steps(u, delta, A, C, B, D, z, delta_bias, state)
