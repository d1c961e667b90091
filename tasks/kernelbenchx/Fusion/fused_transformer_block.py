"""Matrix product, softmax, dropout, matrix product, residual sum and layer normalization.

`fused_transformer_block(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-5, *, out=None)`

1. `z1 = input @ weight1`, with `input`: `(…, D_in)` (any number of leading dimensions) and `weight1`: `(D_in, D_k)`.
2. `z2 = softmax(z1)` over the last dimension. `z1` reaches several hundred: subtract the largest before `exp`.
3. `z3`: every element of `z2` is independently set to 0 with probability `dropout_p` and multiplied by
   `1 / (1 - dropout_p)` otherwise, in every call; `dropout_p = 0` changes nothing, and `dropout_p = 1` gives zeros
   only.
4. `z4 = z3 @ weight2`, with `weight2`: `(D_k, D_out)`.
5. `a = z4 + residual`, with a `residual` that broadcasts to `(…, D_out)`, `z4`'s shape. The result is
   `(a - μ) / sqrt(σ² + eps)`, with mean `μ` and *biased* variance `σ²` of each row of `a`; there are no learned
   factors.

All tensors are float32. Each element of `z2` is dropped or kept once, for all columns of `weight2`. Which ones are
dropped is the kernel's own choice, at random: independent of the data and of each other, and anew in each call, so seed
from `torch`'s generator or a counter. `out`: if given, a contiguous tensor of the result's shape; it is filled and
returned.

Inputs may be non-contiguous or expanded, and leading dimensions may be empty. The strides of a new result are free.
Products and sums are float32: no TF32, no half precision.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, Random, call, mask_complaints

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("matmul", "softmax", "normalization", "random", "fusion")

CASES = [
    dict(shape=(2, 31, 17), hidden=19, columns=45, residual=(2, 31, 45)),
    dict(shape=(5, 13, 11), hidden=21, columns=53, residual=(5, 13, 53)),
    dict(shape=(3, 7, 20), hidden=131, columns=17, residual=(3, 7, 17), dropout_p=0.0),
    dict(shape=(1, 37, 7), hidden=13, columns=29, residual=(1, 37, 29), eps=1e-5),
    dict(shape=(2, 5, 12), hidden=33, columns=29, residual=(2, 5, 29), dropout_p=0.0),
    dict(shape=(1, 1, 1), hidden=1, columns=1, residual=(1, 1, 1), dropout_p=0.0),
    dict(shape=(67, 17), hidden=19, columns=45, residual=(67, 45)),
    dict(shape=(2, 31, 13), hidden=19, columns=45, residual=(2, 31, 45), strided=True),
    dict(shape=(5, 13, 11), hidden=21, columns=53, residual=(5, 13, 53), dropout_p=0.5),
    dict(shape=(2, 3, 11, 18), hidden=24, columns=61, residual=(3, 1, 61), eps=0.5, out=True),
    dict(shape=(2, 7, 12), hidden=33, columns=29, residual=(), dropout_p=0.0),
    dict(shape=(3, 3, 11), hidden=7, columns=19, residual=(3, 3, 19), dropout_p=1.0, out=True),
    dict(shape=(0, 5, 12), hidden=6, columns=11, residual=(0, 5, 11)),
]

SIZES = [
    dict(shape=(8, 128, 256), hidden=128, columns=256, residual=(8, 128, 256)),
    dict(shape=(8, 128, 1024), hidden=512, columns=1024, residual=(8, 128, 1024)),
    dict(shape=(8, 512, 1024), hidden=1024, columns=2048, residual=(8, 512, 2048)),
    dict(shape=(8, 1024, 2048), hidden=2048, columns=4096, residual=(8, 1024, 4096)),
]


def fused_transformer_block(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None):
    z3 = F.dropout(F.softmax(input @ weight1, -1), dropout_p)
    return _given(_finished(z3, weight2, residual, eps), out)


def _finished(z3, weight2, residual, eps):
    return F.layer_norm(z3 @ weight2 + residual, weight2.shape[-1:], eps=eps)


def _given(result, out):
    return result if out is None else out.copy_(result)


def inputs(make, shape, hidden, columns, residual, dropout_p=0.1, eps=1e-5, strided=False, out=False):
    """Where elements are dropped, there are twice as many columns as hidden units, and residuals differ along rows."""
    x, w1 = make.floats(*shape), make.plain(shape[-1], hidden) * shape[-1] ** -0.5
    w2, r = make.plain(hidden, columns), make.plain(*residual)
    if strided:
        x, w1, w2, r = (make.strided(t) for t in (x, w1, w2, r))
    target = make.plain(*shape[:-1], columns) if out else None
    return call(x, w1, w2, r, dropout_p=dropout_p, eps=eps, out=target)


def check(args, kwargs, results, expected):
    p, eps = kwargs["dropout_p"], kwargs["eps"]
    wide = [a.double() for a in args]
    probabilities, exact = (F.softmax(x @ w1, -1) for x, w1 in (args[:2], wide[:2]))
    masks, scale = [], 1 / (1 - p) if p < 1 else 0.0
    for r in results:
        if p in (0, 1) or not exact.numel():
            mask = torch.full_like(exact, p == 0)
        else:
            mask = (_undone(r.double(), *wide[2:]) > 0.5 * scale * exact).double()
        want = _finished(probabilities * mask.to(r.dtype) * scale, *args[2:], eps)
        truth = _finished(exact * mask * scale, *wide[2:], eps)
        sizes = _sizes(*wide, mask * scale, eps)
        outcome = Close(scale=lambda sizes=sizes: sizes).compare(call(), [r], want, truth)
        if not outcome.right:
            return [f"no choice of dropped elements explains the result; with the nearest: {outcome.complaints[0]}"]
        masks.append(mask.bool())
    return mask_complaints(masks, p, exact, exact > 1e-3 * exact.amax(-1, keepdim=True))


def _sizes(input, weight1, weight2, residual, kept, eps):
    """Where rounding errors come from, in units of the result. ``kept`` multiplies probabilities: 0, or dropout's scale.

    The error of a score grows with its terms and its own size, which may be hundreds in one row and less than one in the next.
    It changes a probability in proportion, and all others of the row with it; the second product adds up these changes, and
    the normalization divides by the row's deviation, which differs from row to row as well.
    """
    scores = input @ weight1
    probabilities = F.softmax(scores, -1)
    changes = probabilities.square() * (input.square() @ weight1.square() + scores.square())
    product = (probabilities * kept) @ weight2
    # The sum over l of changes_l · (kept_l · weight2_lc - product_c)², multiplied out.
    moved = (changes * kept.square()) @ weight2.square() - 2 * product * ((changes * kept) @ weight2)
    moved = (moved + product.square() * changes.sum(-1, keepdim=True)).clamp(min=0)
    terms = (probabilities * kept).square() @ weight2.square() + residual.square()
    a = product + residual
    size = (moved + terms + a.square()).sqrt()
    centred = a - a.mean(-1, keepdim=True)
    deviation = (centred.square().mean(-1, keepdim=True) + eps).sqrt()
    whole = size.square().mean(-1, keepdim=True).sqrt()
    return (size + whole * (1 + (centred / deviation).abs())) / deviation


def _undone(y, weight2, residual):
    """z3 from the result.

    ``s · y + m = z3 @ weight2 + residual`` for unknown ``s`` and ``m`` of each row; away from
    the rows of ``weight2`` nothing is left of ``z3``, which gives ``s`` and ``m`` by least squares, and they give
    ``z3``."""
    gram = weight2 @ weight2.mT

    def solved(rows):
        flat = (rows @ weight2.mT).reshape(-1, len(gram))
        return torch.linalg.solve(gram, flat.mT).mT.reshape(*rows.shape[:-1], len(gram))

    residual = residual.expand_as(y)
    parts = torch.stack((y, torch.ones_like(y), residual), -2)
    away = parts - solved(parts) @ weight2
    known, target = away[..., :2, :], away[..., 2:, :]
    s, m = torch.linalg.solve(known @ known.mT, target @ known.mT, left=False).unbind(-1)
    return solved(s * y + m - residual)


CONTRACT = Random(check)


def _dropped(z2, mask, p):
    return z2 * mask / (1 - p) if p < 1 else torch.zeros_like(z2)


def _normalized(a, eps, correction=0):
    centred = a - a.mean(-1, keepdim=True)
    return centred / torch.sqrt(centred.square().sum(-1, keepdim=True) / (a.shape[-1] - correction) + eps)


def positive_own_mask(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None):
    z1 = (input.unsqueeze(-1) * weight1).sum(-2)
    e = (z1 - z1.amax(-1, keepdim=True)).exp()
    z3 = _dropped(e / e.sum(-1, keepdim=True), torch.rand_like(e) >= dropout_p, dropout_p)
    return _given(_normalized((z3.unsqueeze(-1) * weight2).sum(-2) + residual, eps), out)


def negative_tf32_products(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None):
    def rounded(x):
        """Ten bits of mantissa."""
        return ((x.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)

    z3 = F.dropout(F.softmax(rounded(input) @ rounded(weight1), -1), dropout_p)
    return _given(_finished(rounded(z3), rounded(weight2), residual, eps), out)


def negative_no_max_subtraction(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None):
    e = (input @ weight1).exp()
    z3 = F.dropout(e / e.sum(-1, keepdim=True), dropout_p)
    return _given(_finished(z3, weight2, residual, eps), out)


def negative_no_residual(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None):
    z3 = F.dropout(F.softmax(input @ weight1, -1), dropout_p)
    return _given(_finished(z3, weight2, torch.zeros_like(residual), eps), out)


def negative_unbiased_variance(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None):
    z3 = F.dropout(F.softmax(input @ weight1, -1), dropout_p)
    return _given(_normalized(z3 @ weight2 + residual, eps, correction=min(1, weight2.shape[-1] - 1)), out)


def negative_default_eps(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None):
    z3 = F.dropout(F.softmax(input @ weight1, -1), dropout_p)
    return _given(_finished(z3, weight2, residual, 1e-5), out)


def negative_not_rescaled(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None):
    z2 = F.softmax(input @ weight1, -1)
    return _given(_finished(z2 * (torch.rand_like(z2) >= dropout_p), weight2, residual, eps), out)


def negative_never_drops(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None):
    return _given(_finished(F.softmax(input @ weight1, -1), weight2, residual, eps), out)


def negative_dropout_before_softmax(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None):
    z3 = F.softmax(F.dropout(input @ weight1, dropout_p), -1)
    return _given(_finished(z3, weight2, residual, eps), out)


def negative_a_mask_for_each_column_tile(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None):
    """Programs of different column tiles draw their own masks for the same elements."""
    z2 = F.softmax(input @ weight1, -1)
    z4 = torch.cat([F.dropout(z2, dropout_p) @ tile for tile in weight2.split(16, -1)], -1)
    return _given(F.layer_norm(z4 + residual, weight2.shape[-1:], eps=eps), out)


def negative_same_mask_every_call(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None):
    z2 = F.softmax(input @ weight1, -1)
    fixed = torch.rand(z2.shape, generator=torch.Generator().manual_seed(0)).to(z2.device)
    return _given(_finished(_dropped(z2, fixed >= dropout_p, dropout_p), weight2, residual, eps), out)


def negative_one_decision_per_row(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None):
    z2 = F.softmax(input @ weight1, -1)
    z3 = _dropped(z2, torch.rand_like(z2[..., :1]) >= dropout_p, dropout_p)
    return _given(_finished(z3, weight2, residual, eps), out)
