"""Gradients of causal attention with grouped queries, as FlashAttention computes them from what the forward kept.

`attention_backward(grad_out, q, k, v, out, lse)` returns the tuple `(grad_q, grad_k, grad_v)`.

The forward was, for each query head `h` with the key head `h // (Hq // Hk)`, `score[i, j] = q[i] · k[j] / sqrt(D)` for `j ≤ i`, `lse[i] = log(sum
over j ≤ i of exp(score[i, j]))`, `p[i, j] = exp(score[i, j] − lse[i])` and `out[i] = sum over j ≤ i of p[i, j] · v[j]`. So, with `delta[i] = sum
over d of grad_out[i, d] · out[i, d]` and `ds[i, j] = p[i, j] · (grad_out[i] · v[j] − delta[i])`,

    grad_v[j] = sum over i ≥ j of p[i, j] · grad_out[i]
    grad_q[i] = sum over j ≤ i of ds[i, j] · k[j] / sqrt(D)
    grad_k[j] = sum over i ≥ j of ds[i, j] · q[i] / sqrt(D)

where `grad_k` and `grad_v` of a key head are sums over its query heads, too.

- `grad_out`, `q` and `out` are bfloat16 `(B, Hq, S, D)`, `k` and `v` bfloat16 `(B, Hk, S, D)`, `lse` is float32 `(B, Hq, S)`; all are contiguous.
  `D` is 16, 32, 64 or 128, `Hq` a multiple of `Hk`, `S ≥ 2` any number. The results have the shapes and dtypes of `q`, `k` and `v`.
- Products are added up in float32. `p` and `ds` may be rounded to bfloat16 before they are multiplied, as tensor cores need them; the results are
  rounded once, at the end.

Sizes: heads of Llama 3.1 8B (32 of queries, 8 of keys, 128 wide) and of 70B on eight GPUs (8 and 1), Qwen2.5-7B (28 and 4), Qwen3-0.6B (16 and 8)
and GPT-2 (12 and 12, 64 wide), after their model cards. Weights are in proportion to the flops.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 5
DTYPE = "bfloat16"
PRODUCTS = "bf16"
TAGS = ("backward", "attention", "softmax", "matmul", "tensor-core", "training")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small")

CASES = [
    dict(batch=2, heads=2, groups=1, length=37, width=16),
    dict(batch=1, heads=4, groups=2, length=67, width=32),
    dict(batch=1, heads=1, groups=1, length=131, width=64),
    dict(batch=1, heads=3, groups=3, length=45, width=16),
    dict(batch=1, heads=1, groups=1, length=2, width=32),
    dict(batch=2, heads=4, groups=4, length=19, width=32),
    dict(batch=1, heads=2, groups=2, length=33, width=128),
    dict(batch=3, heads=2, groups=1, length=64, width=16),
    dict(batch=1, heads=2, groups=2, length=129, width=32),
]

SIZES = [
    dict(batch=8, heads=12, groups=1, length=1024, width=64),
    dict(batch=1, heads=32, groups=4, length=1024, width=128),
    dict(batch=1, heads=32, groups=4, length=2048, width=128),
    dict(batch=1, heads=28, groups=7, length=2048, width=128),
    dict(batch=2, heads=16, groups=2, length=2048, width=128),
    dict(batch=1, heads=8, groups=8, length=4096, width=128),
]
WEIGHTS = [1.6, 1, 4.3, 3.8, 4.3, 4.3]

CONTRACT = Close(strides="contiguous")


def attention_backward(grad_out, q, k, v, out, lse):
    wide, groups = torch.promote_types(q.dtype, torch.float32), q.shape[1] // k.shape[1]
    qs, do, o = (t.to(wide) for t in (q, grad_out, out))
    ks, vs = (t.to(wide).repeat_interleave(groups, 1) for t in (k, v))
    scale = q.shape[-1] ** -0.5
    p = (qs @ ks.mT * scale - lse[..., None]).exp().tril()
    ds = p * (do @ vs.mT - (do * o).sum(-1, keepdim=True))
    p, ds = (t.to(q.dtype).to(wide) for t in (p, ds))
    of_keys = (t.unflatten(1, (-1, groups)).sum(2) for t in (ds.mT @ qs * scale, p.mT @ do))
    return tuple(t.to(q.dtype) for t in (ds @ ks * scale, *of_keys))


def inputs(make, batch, heads, groups, length, width):
    q = make.floats(batch, heads, length, width)
    k, v = (make.floats(batch, heads // groups, length, width) for _ in range(2))
    do = make.floats(batch, heads, length, width)
    ks, vs = (t.float().repeat_interleave(groups, 1) for t in (k, v))
    hidden = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
    scores = (q.float() @ ks.mT * width**-0.5).masked_fill_(hidden, float("-inf"))
    lse = torch.logsumexp(scores, -1)
    return call(do, q, k, v, (scores.softmax(-1) @ vs).to(q.dtype), lse)


def _gradients(grad_out, q, k, v, out, lse, rounds=False, spoiled=""):
    """By float32 formulas; `rounds` as the reference does, `spoiled` in a way that a control names."""
    groups, length = q.shape[1] // k.shape[1], q.shape[2]
    qs, do, o = q.float(), grad_out.float(), out.float()
    if spoiled == "heads by turns":
        ks, vs = k.float().repeat(1, groups, 1, 1), v.float().repeat(1, groups, 1, 1)
    else:
        ks, vs = k.float().repeat_interleave(groups, 1), v.float().repeat_interleave(groups, 1)
    scale = q.shape[-1] ** -0.5
    p = torch.exp2((torch.einsum("bhid,bhjd->bhij", qs, ks) * scale - lse[..., None]) * 1.4426950408889634)
    p = p.tril({"diagonal hidden": -1, "one beyond": 1, "not causal": length}.get(spoiled, 0))
    dp = torch.einsum("bhid,bhjd->bhij", do, vs)
    ds = p * dp if spoiled == "no delta" else p * (dp - (do * o).sum(-1, keepdim=True))
    if spoiled == "no probabilities":
        ds = (dp - (do * o).sum(-1, keepdim=True)).tril()
    if rounds:
        p, ds = p.to(q.dtype).float(), ds.to(q.dtype).float()
    of_k, of_v = ds.mT @ qs * scale, p.mT @ do
    if spoiled == "heads by turns":
        of_k, of_v = (t.unflatten(1, (groups, -1)).sum(1) for t in (of_k, of_v))
    elif spoiled == "one head of a group":
        of_k, of_v = (t[:, ::groups] for t in (of_k, of_v))
    elif spoiled == "mean over a group":
        of_k, of_v = (t.unflatten(1, (-1, groups)).mean(2) for t in (of_k, of_v))
    else:
        of_k, of_v = (t.unflatten(1, (-1, groups)).sum(2) for t in (of_k, of_v))
    of_q = ds @ ks * (1 if spoiled == "no scale" else scale)
    return of_q.to(q.dtype), of_k.to(q.dtype).contiguous(), of_v.to(q.dtype).contiguous()


def positive_float32(grad_out, q, k, v, out, lse):
    """Rounds nothing but the results."""
    return _gradients(grad_out, q, k, v, out, lse)


def positive_rounded_base_two(grad_out, q, k, v, out, lse):
    return _gradients(grad_out, q, k, v, out, lse, rounds=True)


def negative_not_causal(grad_out, q, k, v, out, lse):
    return _gradients(grad_out, q, k, v, out, lse, spoiled="not causal")


def negative_diagonal_hidden(grad_out, q, k, v, out, lse):
    return _gradients(grad_out, q, k, v, out, lse, spoiled="diagonal hidden")


def negative_one_key_beyond(grad_out, q, k, v, out, lse):
    return _gradients(grad_out, q, k, v, out, lse, spoiled="one beyond")


def negative_no_delta(grad_out, q, k, v, out, lse):
    return _gradients(grad_out, q, k, v, out, lse, spoiled="no delta")


def negative_no_probabilities(grad_out, q, k, v, out, lse):
    return _gradients(grad_out, q, k, v, out, lse, spoiled="no probabilities")


def negative_no_scale(grad_out, q, k, v, out, lse):
    return _gradients(grad_out, q, k, v, out, lse, spoiled="no scale")


def negative_one_head_of_a_group(grad_out, q, k, v, out, lse):
    """Stores the gradients of keys and values in place of adding them."""
    return _gradients(grad_out, q, k, v, out, lse, spoiled="one head of a group")


def negative_mean_over_a_group(grad_out, q, k, v, out, lse):
    return _gradients(grad_out, q, k, v, out, lse, spoiled="mean over a group")


def negative_heads_by_turns(grad_out, q, k, v, out, lse):
    """Key head `h % Hk` for query head `h`."""
    return _gradients(grad_out, q, k, v, out, lse, spoiled="heads by turns")


def negative_sums_in_bfloat16(grad_out, q, k, v, out, lse):
    """Rounds the running sum after every query."""
    right = _gradients(grad_out, q, k, v, out, lse)
    groups = q.shape[1] // k.shape[1]
    ks = k.float().repeat_interleave(groups, 1)
    p = (q.float() @ ks.mT * q.shape[-1] ** -0.5 - lse[..., None]).exp().tril()
    acc = torch.zeros_like(v).float()
    for a, b in zip(p.split(1, 2), grad_out.float().split(1, 2), strict=True):
        acc = (acc + (a.mT @ b).unflatten(1, (-1, groups)).sum(2)).to(v.dtype).float()
    return right[0], right[1], acc.to(v.dtype)


def negative_probabilities_in_float8(grad_out, q, k, v, out, lse):
    right = _gradients(grad_out, q, k, v, out, lse)
    groups = q.shape[1] // k.shape[1]
    ks = k.float().repeat_interleave(groups, 1)
    p = (q.float() @ ks.mT * q.shape[-1] ** -0.5 - lse[..., None]).exp().tril().to(torch.float8_e4m3fn).float()
    of_v = (p.mT @ grad_out.float()).unflatten(1, (-1, groups)).sum(2)
    return right[0], right[1], of_v.to(v.dtype)
