"""Batched matrix product, then RMS normalization, then GELU, then dropout, then a subtraction.

`fused_bmm_rmsnorm_gelu_dropout_sub(input1, input2, other, normalized_shape, dropout_p=0.5, training=True,
approximate='none', eps=1e-5, *, out=None)`

1. `z[b] = input1[b] @ input2[b]`, with `input1`: `(B, N, M)` and `input2`: `(B, M, P)`, both float32.
2. `n = z / sqrt(mean(z²) + eps)`, with the mean over the trailing dimensions `normalized_shape` of `z`, which is an int
   (`P`) or a tuple or list that equals the last dimensions of `(B, N, P)`. There is no learned factor.
3. `g = GELU(n)`: `n · (1 + erf(n / √2)) / 2` for `approximate='none'`, and
   `n · (1 + tanh(√(2/π) · (n + 0.044715 n³))) / 2` for `'tanh'`.
4. `d`: if `training`, every element of `g` is independently set to 0 with probability `dropout_p` and multiplied by
   `1 / (1 - dropout_p)` otherwise; `dropout_p = 1` gives zeros only. If not `training`, or if `dropout_p = 0`, `d = g`.
5. The result is `d - other`: a dropped element is `-other`. `other` is a float32 tensor that broadcasts to `(B, N, P)`.

Which elements are dropped is the kernel's own choice, at random: independent of the data and of each other, and anew in
each call, so seed from `torch`'s generator or a counter. `out`: if given, a contiguous tensor of the result's shape
`(B, N, P)`; it is filled and returned.

All inputs may be non-contiguous or expanded and `B` may be 0. The strides of a new result are free. Products and
sums are float32: no TF32, no half precision.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Random, call, dropout_complaints

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("matmul", "normalization", "random", "fusion", "broadcast")

CASES = [
    dict(batch=3, n=37, m=19, columns=33, normalized_shape=33, other=(3, 37, 33)),
    dict(batch=4, n=13, m=18, columns=29, normalized_shape=29, other=(4, 13, 29), training=False, approximate="tanh"),
    dict(batch=2, n=45, m=21, columns=35, normalized_shape=35, other=(2, 45, 35), dropout_p=0.1, approximate="tanh"),
    dict(batch=1, n=17, m=33, columns=47, normalized_shape=47, other=(1, 17, 47), dropout_p=0.3),
    dict(batch=5, n=8, m=7, columns=67, normalized_shape=67, other=(5, 8, 67), training=False),
    dict(batch=1, n=1, m=1, columns=1, normalized_shape=1, other=(1, 1, 1)),
    dict(batch=3, n=21, m=17, columns=31, normalized_shape=31, other=(3, 21, 31), dropout_p=0.1, strided=True),
    dict(batch=2, n=19, m=7, columns=23, normalized_shape=[19, 23], other=(2, 19, 23)),
    dict(batch=3, n=17, m=9, columns=31, normalized_shape=31, other=(3, 17, 31), eps=0.5),
    dict(batch=5, n=17, m=11, columns=43, normalized_shape=43, other=(5, 17, 43), out=True),
    dict(batch=4, n=13, m=17, columns=29, normalized_shape=29, other=(4, 13, 29), training=False, shared=True),
    dict(batch=5, n=7, m=13, columns=37, normalized_shape=37, other=(5, 1, 37)),
    dict(batch=2, n=5, m=9, columns=11, normalized_shape=11, other=(2, 5, 11), dropout_p=1.0),
    dict(batch=0, n=4, m=5, columns=6, normalized_shape=6, other=(0, 4, 6)),
]

SIZES = [
    dict(batch=32, n=128, m=128, columns=128, normalized_shape=128, other=(32, 128, 128)),
    dict(batch=32, n=256, m=256, columns=256, normalized_shape=256, other=(32, 256, 256)),
    dict(batch=32, n=768, m=768, columns=768, normalized_shape=768, other=(32, 768, 768)),
    dict(batch=16, n=1536, m=1536, columns=1536, normalized_shape=1536, other=(16, 1536, 1536)),
]


def fused_bmm_rmsnorm_gelu_dropout_sub(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-05, *, out=None
):
    g = _activated(torch.bmm(input1, input2), normalized_shape, eps, approximate)
    return _given(F.dropout(g, dropout_p, training) - other, out)


def _activated(z, normalized_shape, eps, approximate):
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
    return F.gelu(F.rms_norm(z, shape, eps=eps), approximate=approximate)


def _given(result, out):
    return result if out is None else out.copy_(result)


def inputs(
    make, batch, n, m, columns, normalized_shape, other, dropout_p=0.5, training=True, approximate="none", eps=1e-5,
    strided=False, shared=False, out=False,
):  # fmt: skip
    """``shared``: one ``input2`` for the whole batch."""
    x, y, o = make.floats(batch, n, m), make.plain(1 if shared else batch, m, columns), make.plain(*other)
    if strided:
        x, y, o = make.strided(x), make.strided(y), make.strided(o)
    target = make.plain(batch, n, columns) if out else None
    y = make.expanded(y, batch, m, columns)
    return call(
        x, y, o, normalized_shape, dropout_p=dropout_p, training=training, approximate=approximate, eps=eps, out=target
    )


def check(args, kwargs, results, expected):
    x, y, other, shape = args
    p = kwargs["dropout_p"] if kwargs["training"] else 0.0

    def kept(x, y, other):
        g = _activated(torch.bmm(x, y), shape, kwargs["eps"], kwargs["approximate"])
        return (g / (1 - p) if p < 1 else g) - other

    truth = kept(x.double(), y.double(), other.double())
    return dropout_complaints(results, p, kept(x, y, other), truth, dropped=-other)


CONTRACT = Random(check)


def _dropped(g, mask, p):
    return g * mask / (1 - p) if p < 1 else torch.zeros_like(g)


def _normalized(z, normalized_shape, eps):
    """By explicit formula; ``eps`` may stand elsewhere in the controls."""
    dims = tuple(range(-1 if isinstance(normalized_shape, int) else -len(normalized_shape), 0))
    return z / torch.sqrt(z.square().mean(dims, keepdim=True) + eps)


def positive_own_mask(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-05, *, out=None
):
    n = _normalized((input1.unsqueeze(-1) * input2.unsqueeze(1)).sum(-2), normalized_shape, eps)
    if approximate == "tanh":
        g = n * torch.sigmoid(1.5957691216057308 * (n + 0.044715 * n * n * n))
    else:
        g = 0.5 * n * (1 + torch.erf(n * 0.5**0.5))
    return _given((_dropped(g, torch.rand_like(g) >= dropout_p, dropout_p) if training else g) - other, out)


def negative_default_eps(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-05, *, out=None
):
    g = _activated(torch.bmm(input1, input2), normalized_shape, 1e-5, approximate)
    return _given(F.dropout(g, dropout_p, training) - other, out)


def negative_no_eps(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-05, *, out=None
):
    g = F.gelu(_normalized(torch.bmm(input1, input2), normalized_shape, 0.0), approximate=approximate)
    return _given(F.dropout(g, dropout_p, training) - other, out)


def negative_layer_norm(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-05, *, out=None
):
    """Takes the mean away, too."""
    z = torch.bmm(input1, input2)
    z = z - z.mean(-1, keepdim=True)
    return _given(F.dropout(_activated(z, normalized_shape, eps, approximate), dropout_p, training) - other, out)


def negative_last_dimension_only(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-05, *, out=None
):
    g = _activated(torch.bmm(input1, input2), input2.shape[-1], eps, approximate)
    return _given(F.dropout(g, dropout_p, training) - other, out)


def negative_always_erf(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-05, *, out=None
):
    g = _activated(torch.bmm(input1, input2), normalized_shape, eps, "none")
    return _given(F.dropout(g, dropout_p, training) - other, out)


def negative_dropout_before_gelu(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-05, *, out=None
):
    n = _normalized(torch.bmm(input1, input2), normalized_shape, eps)
    return _given(F.gelu(F.dropout(n, dropout_p, training), approximate=approximate) - other, out)


def negative_drops_in_inference(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-05, *, out=None
):
    g = _activated(torch.bmm(input1, input2), normalized_shape, eps, approximate)
    return _given(F.dropout(g, dropout_p) - other, out)


def negative_same_row_mask(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-05, *, out=None
):
    """A stream that starts anew in every row."""
    g = _activated(torch.bmm(input1, input2), normalized_shape, eps, approximate)
    mask = torch.rand(g.shape[-1], device=g.device) >= dropout_p
    return _given((_dropped(g, mask, dropout_p) if training else g) - other, out)


def negative_same_mask_every_call(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-05, *, out=None
):
    g = _activated(torch.bmm(input1, input2), normalized_shape, eps, approximate)
    fixed = torch.rand(g.shape, generator=torch.Generator().manual_seed(0)).to(g.device)
    return _given((_dropped(g, fixed >= dropout_p, dropout_p) if training else g) - other, out)


def negative_subtracts_before_dropout(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-05, *, out=None
):
    g = _activated(torch.bmm(input1, input2), normalized_shape, eps, approximate)
    return _given(F.dropout(g - other, dropout_p, training), out)


def negative_adds(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-05, *, out=None
):
    g = _activated(torch.bmm(input1, input2), normalized_shape, eps, approximate)
    return _given(F.dropout(g, dropout_p, training) + other, out)
