"""Product, sum, logarithm of softmax, dropout, then a batched matrix product.

`fused_mul_add_logsoftmax_dropout_bmm(input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *,
out=None)`

1. `s = input1 · input2 + other`, element by element. `input1` and `input2` are float32 and broadcast to `(B, N, K)`;
   `other` is a float32 tensor that broadcasts to it, or a Python number.
2. `l = s - log(sum of exp(s))`, the sum over dimension `dim` of `(B, N, K)`, which may be negative. `s` reaches several
   hundred: subtract the largest before `exp`.
3. `d`: if `training`, every element of `l` is independently set to 0 with probability `p` and multiplied by
   `1 / (1 - p)` otherwise; `p = 1` gives zeros only. If not `training`, or if `p = 0`, `d = l`.
4. The result is `d[b] @ mat2[b]`, with `mat2`: `(B, K, P)` float32; its shape is `(B, N, P)`.

Each element of `l` is dropped or kept once, for all columns of `mat2`. Which ones are dropped is the kernel's own
choice, at random: independent of the data and of each other, and anew in each call, so seed from `torch`'s generator or
a counter. `inplace` concerns an intermediate that the caller never sees: it changes nothing. `out`: if given, a
contiguous tensor of the result's shape; it is filled and returned.

Inputs may be non-contiguous or expanded and `B` may be 0. The strides of a new result are free. Products and sums are
float32: no TF32, no half precision.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, Random, call, mask_complaints

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("matmul", "softmax", "random", "fusion", "broadcast")

CASES = [
    dict(batch=3, n=37, k=19, columns=45),
    dict(batch=2, n=45, k=21, columns=53, p=0.3, dim=1),
    dict(batch=3, n=67, k=61, columns=7, inplace=True),
    dict(batch=2, n=13, k=67, columns=33, p=0.1, training=False),
    dict(batch=5, n=31, k=13, columns=29, p=0.1, inplace=False),
    dict(batch=1, n=1, k=1, columns=1),
    dict(batch=2, n=43, k=21, columns=53, strided=True),
    dict(batch=3, n=29, k=17, columns=50, factor=(17,), other=(29, 1), out=True),
    dict(batch=7, n=29, k=17, columns=50, dim=-3),
    dict(batch=2, n=19, k=7, columns=23, p=0.0, other=1.5),
    dict(batch=2, n=5, k=9, columns=11, p=1.0, out=True),
    dict(batch=0, n=4, k=5, columns=6),
]

SIZES = [
    dict(batch=32, n=128, k=64, columns=128),
    dict(batch=32, n=512, k=256, columns=512),
    dict(batch=32, n=1024, k=512, columns=1024),
    dict(batch=16, n=2048, k=1024, columns=2048),
]


def fused_mul_add_logsoftmax_dropout_bmm(
    input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None
):
    d = F.dropout(_log_softmax(input1, input2, other, dim), p, training, inplace)
    return _given(torch.bmm(d, mat2), out)


def _log_softmax(input1, input2, other, dim):
    return F.log_softmax(input1 * input2 + other, dim)


def _given(result, out):
    return result if out is None else out.copy_(result)


def inputs(
    make, batch, n, k, columns, p=0.5, training=True, inplace=False, dim=-1, factor=None, other=None,
    strided=False, out=False,
):  # fmt: skip
    """``factor``: shape of ``input2``; ``other``: its shape, or a number. Random cases have over 2 K columns or p = 1/2."""
    x, y = make.floats(batch, n, k), make.plain(*(factor or (batch, n, k)))
    o = other if isinstance(other, float) else make.plain(*(other or (batch, n, k)))
    m = make.plain(batch, k, columns)
    if strided:
        x, y, o, m = (make.strided(t) for t in (x, y, o, m))
    target = make.plain(batch, n, columns) if out else None
    return call(x, y, o, m, p=p, training=training, inplace=inplace, dim=dim, out=target)


def check(args, kwargs, results, expected):
    """With at least twice as many columns as rows, ``mat2`` lets ``d`` and thereby the mask be computed back."""
    wide = [a.double() if isinstance(a, torch.Tensor) else a for a in args]
    m, p = wide[3], kwargs["p"] if kwargs["training"] else 0.0
    l32, l64 = _log_softmax(*args[:3], kwargs["dim"]), _log_softmax(*wide[:3], kwargs["dim"])
    if 0 < p < 1 and m.shape[2] < 2 * m.shape[1] and l64.numel() > 1:
        return [c for r in results for c in _moments(r.double(), l64, m, p)]
    masks, scale = [], 1 / (1 - p) if p < 1 else 0.0
    for r in results:
        if p in (0, 1):
            mask = torch.full_like(l64, p == 0)
        else:
            found = torch.linalg.solve(m @ m.mT, r.double() @ m.mT, left=False)
            mask = (found / (l64 * scale) > 0.5).double()
        values = [torch.bmm(logs * mask.to(logs.dtype) * scale, b) for logs, b in ((l32, args[3]), (l64, m))]
        outcome = Close(scale=(l64.square() @ m.square()).sqrt() * scale).compare(call(), [r], *values)
        if not outcome.right:
            return [f"no choice of dropped elements explains the result; with the nearest: {outcome.complaints[0]}"]
        masks.append(mask.bool())
    return mask_complaints(masks, p, l64, l64.abs() > 1e-3 * l64.abs().mean())


def _moments(y, logs, m, p):
    """Where the mask cannot be computed back: mean and variance of the result, given that of the mask."""
    mean, variance = logs @ m, (logs.square() @ m.square()) * (p / (1 - p))
    z = (y - mean) / variance.sqrt()
    columns = (y - mean).sum((0, 1)) / variance.sum((0, 1)).sqrt()
    complaints = [] if z.abs().max() <= 10 else [f"an element is {float(z.abs().max()):.1f} standard deviations off"]
    if not columns.abs().max() <= 8:
        complaints.append(f"a column's sum is {float(columns.abs().max()):.1f} standard deviations off")
    if not 0.6 <= z.square().mean() <= 1.5:
        complaints.append(f"the variance is {float(z.square().mean()):.2f} of what it should be")
    return complaints


CONTRACT = Random(check)


def _dropped(logs, mask, p):
    return logs * mask / (1 - p) if p < 1 else torch.zeros_like(logs)


def positive_own_mask(input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None):
    s = input1 * input2 + other
    s = s - s.amax(dim, keepdim=True) if s.numel() else s
    logs = s - s.exp().sum(dim, keepdim=True).log()
    d = _dropped(logs, torch.rand_like(logs) >= p, p) if training else logs
    return _given((d.unsqueeze(-1) * mat2.unsqueeze(1)).sum(-2), out)


def negative_last_dimension_only(input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None):
    d = F.dropout(_log_softmax(input1, input2, other, -1), p, training)
    return _given(torch.bmm(d, mat2), out)


def negative_no_max_subtraction(input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None):
    s = input1 * input2 + other
    d = F.dropout(s - s.exp().sum(dim, keepdim=True).log(), p, training)
    return _given(torch.bmm(d, mat2), out)


def negative_not_rescaled(input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None):
    logs = _log_softmax(input1, input2, other, dim)
    return _given(torch.bmm(logs * (torch.rand_like(logs) >= p) if training else logs, mat2), out)


def negative_dropout_after_product(
    input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None
):
    y = torch.bmm(_log_softmax(input1, input2, other, dim), mat2)
    return _given(F.dropout(y, p, training), out)


def negative_a_mask_for_each_column_tile(
    input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None
):
    """Programs of different column tiles draw their own masks for the same elements."""
    logs = _log_softmax(input1, input2, other, dim)
    tiles = [torch.bmm(F.dropout(logs, p, training), tile) for tile in mat2.split(32, dim=2)]
    return _given(torch.cat(tiles, 2), out)


def negative_never_drops(input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None):
    return _given(torch.bmm(_log_softmax(input1, input2, other, dim), mat2), out)


def negative_drops_in_inference(input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None):
    return _given(torch.bmm(F.dropout(_log_softmax(input1, input2, other, dim), p), mat2), out)


def negative_same_mask_every_call(
    input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None
):
    logs = _log_softmax(input1, input2, other, dim)
    fixed = torch.rand(logs.shape, generator=torch.Generator().manual_seed(0)).to(logs.device)
    return _given(torch.bmm(_dropped(logs, fixed >= p, p) if training else logs, mat2), out)


def negative_same_row_mask(input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None):
    """A stream that starts anew in every row."""
    logs = _log_softmax(input1, input2, other, dim)
    mask = torch.rand(logs.shape[-1], device=logs.device) >= p
    return _given(torch.bmm(_dropped(logs, mask, p) if training else logs, mat2), out)


def negative_tf32(input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    d = F.dropout(_log_softmax(input1, input2, other, dim), p, training)
    d, m = ((t.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (d, mat2))
    return _given(torch.bmm(d, m), out)
