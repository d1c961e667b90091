"""The gated delta rule of Qwen3-Next: linear attention whose state forgets, and corrects what it holds under a key.

`gated_delta_rule(q, k, v, g, beta, state)` returns the tuple `(out, new_state)`. For each batch and head, with `S[−1] = state`, a matrix `(K, V)`,

    S'[t]  = exp(g[t]) · S[t − 1]
    S[t]   = S'[t] + k[t] ⊗ (beta[t] · (v[t] − S'[t]ᵀ k[t]))
    out[t] = S[t]ᵀ q[t] / sqrt(K)

and `new_state = S[T − 1]`.

- `q` and `k` are bfloat16 `(B, H, T, K)`, rows of `k` have length 1; `v` is bfloat16 `(B, H, T, V)`; `g` is float32 `(B, H, T)`, at most 0;
  `beta` is float32 `(B, H, T)`, from 0 to 1; `state` is bfloat16 `(B, H, K, V)`. All are contiguous; `T ≥ 1` is any number, `K` and `V` are 16,
  32, 64 or 128.
- `out` is bfloat16 `(B, H, T, V)`, `new_state` bfloat16 `(B, H, K, V)`, both new and contiguous; `state` is not changed.
- States and sums are float32. Step by step that is all. In chunks of `C` steps, which tensor cores need, operands of products may be rounded to
  bfloat16. With `G` the running sum of `g` in the chunk, `A[i, j] = beta[i] · exp(G[i] − G[j]) · k[i] · k[j]` for `j < i`, and `M = (1 + A)⁻¹`,

      U = M (beta · v),   W = M (beta · exp(G) · k),   D = U − W S,
      out = (exp(G) · q S + (exp(G[i] − G[j]) · q[i] · k[j] for j ≤ i) D) / sqrt(K)
      S ← exp(G[C − 1]) · S + (exp(G[C − 1] − G) · k)ᵀ D

Sizes: heads of Qwen3-Next-80B-A3B (32 of values, keys repeated; 128 by 128), and of the same on four GPUs (8), after its model card; prefills of one
to four requests. Weights are in proportion to heads times steps.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 5
DTYPE = "bfloat16"
TAGS = ("scan", "attention", "matmul", "tensor-core", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "wide")

CASES = [
    dict(batch=1, heads=2, length=67, key=32, value=32),
    dict(batch=2, heads=1, length=131, key=16, value=32),
    dict(batch=1, heads=1, length=64, key=64, value=16),
    dict(batch=1, heads=3, length=1, key=32, value=64),
    dict(batch=1, heads=1, length=200, key=32, value=32, fast=True),
    dict(batch=1, heads=2, length=129, key=16, value=16, fresh=True),
    dict(batch=2, heads=2, length=19, key=16, value=16),
    dict(batch=1, heads=1, length=65, key=128, value=32),
]

SIZES = [
    dict(batch=1, heads=32, length=512, key=128, value=128),
    dict(batch=1, heads=32, length=2048, key=128, value=128),
    dict(batch=1, heads=32, length=4096, key=128, value=128),
    dict(batch=4, heads=32, length=1024, key=128, value=128),
    dict(batch=1, heads=8, length=8192, key=128, value=128),
    dict(batch=2, heads=8, length=4096, key=128, value=128),
]
WEIGHTS = [1, 4, 8, 8, 4, 4]


def _columns(q, k, v, g, beta, state):
    """What a column of the state is made of: a rounding of its largest value stays in it."""
    largest = torch.maximum(v.double().abs().amax(2), state.double().abs().amax(2))
    return largest[:, :, None] * q.shape[-1] ** -0.5


CONTRACT = Close(scale=_columns, strides="contiguous")

CHUNK = 64


def gated_delta_rule(q, k, v, g, beta, state):
    wide, length = g.dtype, q.shape[2]
    padding = -length % CHUNK

    def chunks(t):
        """`(B, H, chunks, CHUNK, …)`, with zeros behind the end, which change nothing."""
        t = torch.nn.functional.pad(t, (*(0, 0) * (t.ndim - 3), 0, padding))
        return t.to(wide).unflatten(2, (-1, CHUNK))

    def rounded(t):
        return t.to(q.dtype).to(wide)

    qs, ks, vs, gs, betas = (chunks(t) for t in (q, k, v, g, beta))
    qs, total = qs * q.shape[-1] ** -0.5, gs.cumsum(-1)
    decay = (total[..., :, None] - total[..., None, :]).tril().exp().tril()
    kb = ks * betas[..., None]
    a = (kb @ ks.mT * decay).tril(-1)
    eye = torch.eye(CHUNK, dtype=wide, device=q.device)
    m = rounded(torch.linalg.solve_triangular(eye + a, eye.expand_as(a), upper=False, unitriangular=True))
    u = rounded(m @ rounded(vs * betas[..., None]))
    w = rounded(m @ rounded(kb * total.exp()[..., None]))
    inside = rounded(qs @ ks.mT * decay)
    queries = rounded(qs * total.exp()[..., None])
    keys = rounded(ks * (total[..., -1:] - total).exp()[..., None])
    s, outs = state.to(wide), []
    for c in range(qs.shape[2]):
        d = rounded(u[:, :, c] - w[:, :, c] @ rounded(s))
        outs.append(queries[:, :, c] @ rounded(s) + inside[:, :, c] @ d)
        s = s * total[:, :, c, -1, None, None].exp() + keys[:, :, c].mT @ d
    out = torch.cat(outs, 2)[:, :, :length]
    return out.to(q.dtype).contiguous(), s.to(state.dtype)


def inputs(make, batch, heads, length, key, value, fast=False, fresh=False):
    """`fast`: most of the state is forgotten within a chunk; `fresh`: nothing came before."""
    q, v = make.plain(batch, heads, length, key), make.floats(batch, heads, length, value)
    k = torch.nn.functional.normalize(make.plain(batch, heads, length, key, dtype=torch.float32), dim=-1)
    g = -make.plain(batch, heads, length, dtype=torch.float32, low=0.0, high=2.0 if fast else 0.1)
    beta = make.plain(batch, heads, length, dtype=torch.float32, low=0.1, high=0.95)
    state = make.plain(batch, heads, key, value)
    return call(q, k.to(q.dtype), v, g, beta, torch.zeros_like(state) if fresh else state)


def _steps(q, k, v, g, beta, state, spoiled=""):
    """Step by step in float32, spoiled in a way that a control names."""
    s, outs = state.float(), []
    if spoiled == "no state":
        s = torch.zeros_like(s)
    for t in range(q.shape[2]):
        if t % CHUNK == 0 and t and spoiled == "chunks":
            s = torch.zeros_like(s)
        x, y, z = (a[:, :, t].float() for a in (q, k, v))
        b, decay = beta[:, :, t, None], g[:, :, t, None, None].exp()
        before = s
        s = s if spoiled == "no gate" else s * (-decay.log() if spoiled == "gate as logarithm" else decay)
        held = torch.einsum("bhkv,bhk->bhv", before if spoiled == "corrects first" else s, y)
        update = b * z if spoiled == "no correction" else z - held if spoiled == "no beta" else b * (z - held)
        if spoiled == "beta on values only":
            update = b * z - held
        after = s + y[..., None] * update[..., None, :]
        scale = 1 if spoiled == "no scale" else q.shape[-1] ** -0.5
        outs.append(torch.einsum("bhkv,bhk->bhv", s if spoiled == "late" else after, x) * scale)
        s = after.bfloat16().float() if spoiled == "bfloat16" else after
        s = after.to(torch.float8_e4m3fn).float() if spoiled == "float8" else s
    return torch.stack(outs, 2).to(q.dtype), s.to(state.dtype)


def positive_step_by_step(q, k, v, g, beta, state):
    return _steps(q, k, v, g, beta, state)


def positive_chunks_of_16(q, k, v, g, beta, state):
    """The reference's formulas, a chunk after the other, with nothing rounded."""
    parts, s = [], state.float()
    for stretch in zip(*(t.split(16, 2) for t in (q, k, v, g, beta)), strict=True):
        x, y, z, gate, b = (t.float() for t in stretch)
        total, x = gate.cumsum(-1), x * q.shape[-1] ** -0.5
        decay = (total[..., :, None] - total[..., None, :]).tril().exp().tril()
        a = (y @ y.mT * decay * b[..., None]).tril(-1)
        right = b[..., None] * (z - total.exp()[..., None] * (y @ s))
        d = torch.linalg.solve_triangular(a + torch.eye(a.shape[-1], device=a.device), right, upper=False)
        parts.append(total.exp()[..., None] * (x @ s) + (x @ y.mT * decay) @ d)
        s = total[..., -1, None, None].exp() * s + ((total[..., -1:] - total).exp()[..., None] * y).mT @ d
    return torch.cat(parts, 2).to(q.dtype), s.to(state.dtype)


def negative_no_state(q, k, v, g, beta, state):
    """Begins with zeros, whatever came before."""
    return _steps(q, k, v, g, beta, state, "no state")


def negative_state_not_carried_over(q, k, v, g, beta, state):
    """Begins each chunk with zeros."""
    return _steps(q, k, v, g, beta, state, "chunks")


def negative_no_gate(q, k, v, g, beta, state):
    return _steps(q, k, v, g, beta, state, "no gate")


def negative_gate_as_logarithm(q, k, v, g, beta, state):
    """Takes `−g` for the factor."""
    return _steps(q, k, v, g, beta, state, "gate as logarithm")


def negative_no_correction(q, k, v, g, beta, state):
    """Adds what is new and leaves what the key held: gated linear attention."""
    return _steps(q, k, v, g, beta, state, "no correction")


def negative_no_beta(q, k, v, g, beta, state):
    return _steps(q, k, v, g, beta, state, "no beta")


def negative_beta_on_values_only(q, k, v, g, beta, state):
    return _steps(q, k, v, g, beta, state, "beta on values only")


def negative_corrects_before_forgetting(q, k, v, g, beta, state):
    return _steps(q, k, v, g, beta, state, "corrects first")


def negative_output_before_the_step(q, k, v, g, beta, state):
    return _steps(q, k, v, g, beta, state, "late")


def negative_no_scale(q, k, v, g, beta, state):
    return _steps(q, k, v, g, beta, state, "no scale")


def negative_states_in_float8(q, k, v, g, beta, state):
    return _steps(q, k, v, g, beta, state, "float8")


def negative_states_in_bfloat16(q, k, v, g, beta, state):
    """Rounds the state after each step."""
    return _steps(q, k, v, g, beta, state, "bfloat16")


def negative_first_order_inverse(q, k, v, g, beta, state):
    """`1 − A` in place of `(1 + A)⁻¹`: a step sees the corrections of the chunk's earlier ones without their own."""
    parts, s = [], state.float()
    for stretch in zip(*(t.split(CHUNK, 2) for t in (q, k, v, g, beta)), strict=True):
        x, y, z, gate, b = (t.float() for t in stretch)
        total, x = gate.cumsum(-1), x * q.shape[-1] ** -0.5
        decay = (total[..., :, None] - total[..., None, :]).tril().exp().tril()
        a = (y @ y.mT * decay * b[..., None]).tril(-1)
        right = b[..., None] * (z - total.exp()[..., None] * (y @ s))
        d = right - a @ right
        parts.append(total.exp()[..., None] * (x @ s) + (x @ y.mT * decay) @ d)
        s = total[..., -1, None, None].exp() * s + ((total[..., -1:] - total).exp()[..., None] * y).mT @ d
    return torch.cat(parts, 2).to(q.dtype), s.to(state.dtype)
