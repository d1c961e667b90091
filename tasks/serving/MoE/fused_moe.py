"""The feed-forward layer of a mixture of experts, with SwiGLU, of tokens that have been routed.

`fused_moe(x, w13, w2, weights, experts)` is a new contiguous bfloat16 tensor `(T, D)`:

    out[t] = Σ_s weights[t, s] · w2[e] @ (silu(w1[e] @ x[t]) · (w3[e] @ x[t]))        with e = experts[t, s]

- `x`: bfloat16 `(T, D)`, a row a token;
- `w13`: bfloat16 `(E, 2I, D)`: of each expert first the `I` rows of `w1`, the gate, then those of `w3`;
- `w2`: bfloat16 `(E, D, I)`;
- `weights`: float32 `(T, k)`, positive; `experts`: int32 `(T, k)`, those of a token differ. Some experts have no tokens.

Products are added up in float32. Both projections of `w13`, their gated product, each expert's result and the sums over `s` may be rounded to
bfloat16, or stay float32 (the operand of the second product is bfloat16). `T`, `D`, `I` ≥ 1 need not be multiples
of anything. All arguments are contiguous.

Sizes: Mixtral 8x7B on two GPUs (8 experts, 4096, 7168 of 14336 each; 2 a token), Qwen3 30B-A3B (128 experts, 2048, 768; 8 a token) and DeepSeek-V3 on eight
GPUs (256 experts, 7168, 256 of 2048 each; 8 a token), by their model cards; `tokens` is a decode batch or a chunk of a prefill.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 5
DTYPE = "bfloat16"
TAGS = ("moe", "matmul", "tensor-core", "bf16", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "zeros")

CASES = [
    dict(tokens=5, hidden=64, inner=33, count=4, k=2),
    dict(tokens=19, hidden=70, inner=20, count=8, k=2),
    dict(tokens=1, hidden=33, inner=17, count=9, k=8),
    dict(tokens=37, hidden=24, inner=40, count=3, k=1),
    dict(tokens=3, hidden=515, inner=9, count=5, k=3),
    dict(tokens=2, hidden=16, inner=257, count=17, k=4),
    dict(tokens=1, hidden=1, inner=1, count=1, k=1),
    dict(tokens=21, hidden=48, inner=32, count=6, k=6),
]

SIZES = [
    dict(tokens=1, hidden=2048, inner=768, count=128, k=8),
    dict(tokens=64, hidden=4096, inner=7168, count=8, k=2),
    dict(tokens=256, hidden=2048, inner=768, count=128, k=8),
    dict(tokens=1024, hidden=7168, inner=256, count=256, k=8),
    dict(tokens=4096, hidden=2048, inner=768, count=128, k=8),
    dict(tokens=8192, hidden=4096, inner=7168, count=8, k=2),
]
WEIGHTS = [1, 2, 3, 2, 2, 2]

CONTRACT = Close(strides="contiguous")


def _single(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def fused_moe(x, w13, w2, weights, experts):
    out = torch.zeros_like(_single(x))
    for e in experts.unique().tolist():
        token, slot = torch.where(experts == e)
        gate, up = F.linear(x[token], w13[e]).chunk(2, -1)
        result = F.linear(F.silu(gate) * up, w2[e])
        out.index_add_(0, token, weights[token, slot, None] * result)
    return out.to(x.dtype)


def inputs(make, tokens, hidden, inner, count, k):
    """Some experts are more popular than others. Weights add up to one."""
    popular = make.plain(tokens, count, dtype=torch.float32) + make.plain(count, dtype=torch.float32)
    top = popular.topk(k, -1)
    w13 = make.plain(count, 2 * inner, hidden) * hidden**-0.5
    w2 = make.plain(count, hidden, inner) * inner**-0.5
    return call(make.floats(tokens, hidden), w13, w2, top.values.softmax(-1), top.indices.to(torch.int32))


def _dense(x, w13, w2, weights, experts, gated=lambda gate, up: F.silu(gate) * up):
    """All experts for all tokens, in float32, and their weights, of which most are zero."""
    gate, up = torch.einsum("td,eid->tei", x.float(), w13.float()).chunk(2, -1)
    each = torch.einsum("tei,edi->ted", gated(gate, up).to(x.dtype).float(), w2.float())
    share = torch.zeros(len(x), len(w13), device=x.device).scatter_(1, experts.long(), weights)
    return (each * share[..., None]).sum(1).to(x.dtype)


def positive_dense(x, w13, w2, weights, experts):
    return _dense(x, w13, w2, weights, experts)


def negative_unweighted(x, w13, w2, weights, experts):
    return _dense(x, w13, w2, torch.full_like(weights, 1 / weights.shape[1]), experts)


def negative_first_expert_only(x, w13, w2, weights, experts):
    return _dense(x, w13, w2, weights[:, :1], experts[:, :1])


def negative_up_for_the_gate(x, w13, w2, weights, experts):
    return _dense(x, w13, w2, weights, experts, lambda gate, up: gate * F.silu(up))


def negative_gelu(x, w13, w2, weights, experts):
    return _dense(x, w13, w2, weights, experts, lambda gate, up: F.gelu(gate) * up)


def negative_weights_of_another_slot(x, w13, w2, weights, experts):
    return _dense(x, w13, w2, weights.flip(-1), experts)


def negative_weighted_inputs(x, w13, w2, weights, experts):
    """Weights the tokens before the first product: the gate is not linear."""
    total = 0
    for slot in range(experts.shape[1]):
        scaled = (x * weights[:, slot, None]).to(x.dtype)
        total = total + _dense(scaled, w13, w2, torch.ones_like(weights[:, :1]), experts[:, slot, None]).float()
    return total.to(x.dtype)
