"""Matrix-vector product, then the logarithm of softmax, then dropout.

`fused_mv_logsoftmax_dropout(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None)`

1. `z = input @ vec`, with `input`: `(n, m)` and `vec`: `(m,)`, both float32. `z` has shape `(n,)`; `m = 0` gives zeros.
2. `s_i = z_i - log(sum over j of exp(z_j))`. `dim` is 0 or -1, both of which mean the one dimension of `z`. `z` reaches
   several hundred: subtract the largest before `exp`.
3. If `training`, every element of `s` is independently set to 0 with probability `p` and multiplied by `1 / (1 - p)`
   otherwise; `p = 1` gives zeros only. If not `training`, or if `p = 0`, the result is `s`.

Which elements are dropped is the kernel's own choice, at random: independent of the data and of each other, and anew in
each call, so seed from `torch`'s generator or a counter. `inplace` concerns an intermediate that the caller never sees:
it changes nothing. `out`: if given, a contiguous tensor of shape `(n,)`; it is filled and returned.

`input` and `vec` may be non-contiguous and `n` may be 0. The result is float32. Products and sums are float32: no TF32,
no half precision.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Random, call, dropout_complaints

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("matmul", "softmax", "random", "fusion", "memory-bound")

CASES = [
    dict(n=2001, m=19),
    dict(n=1537, m=37, p=0.2),
    dict(n=1801, m=5, inplace=True),
    dict(n=131, m=29, p=0.1, training=False),
    dict(n=1031, m=67, p=0.1, inplace=False),
    dict(n=1, m=1),
    dict(n=1537, m=37, strided=True),
    dict(n=1033, m=33, dim=-1),
    dict(n=1801, m=5, p=0.8),
    dict(n=19, m=7, p=1.0, out=True),
    dict(n=13, m=0, p=0.0),
    dict(n=0, m=5),
]

SIZES = [
    dict(n=256, m=256),
    dict(n=2176, m=2176),
    dict(n=8192, m=4096, p=0.1),
    dict(n=16384, m=16384),
]


def fused_mv_logsoftmax_dropout(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    return _given(F.dropout(F.log_softmax(torch.mv(input, vec), dim), p, training, inplace), out)


def _given(result, out):
    return result if out is None else out.copy_(result)


def inputs(make, n, m, p=0.5, training=True, inplace=False, dim=0, strided=False, out=False):
    x, v = make.floats(n, m), make.plain(m) * max(1, m) ** -0.5
    if strided:
        x, v = make.strided(x), make.strided(v)
    return call(x, v, p=p, training=training, inplace=inplace, dim=dim, out=make.plain(n) if out else None)


def check(args, kwargs, results, expected):
    p = kwargs["p"] if kwargs["training"] else 0.0

    def kept(x, v):
        s = F.log_softmax(torch.mv(x, v), 0)
        return s / (1 - p) if p < 1 else s

    x, v = args
    return dropout_complaints(results, p, kept(x, v), kept(x.double(), v.double()))


CONTRACT = Random(check)


def _dropped(s, mask, p):
    return s * mask / (1 - p) if p < 1 else torch.zeros_like(s)


def _log_softmax(z, stable=True):
    if not z.numel():
        return z
    z = z - z.max() if stable else z
    return z - z.exp().sum().log()


def positive_own_mask(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    s = _log_softmax((input * vec).sum(-1))
    return _given(_dropped(s, torch.rand_like(s) >= p, p) if training else s, out)


def negative_no_max_subtraction(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    return _given(F.dropout(_log_softmax(torch.mv(input, vec), stable=False), p, training), out)


def negative_softmax(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    return _given(F.dropout(F.softmax(torch.mv(input, vec), 0), p, training), out)


def negative_dropout_before_softmax(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    return _given(F.log_softmax(F.dropout(torch.mv(input, vec), p, training), 0), out)


def negative_not_rescaled(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    s = F.log_softmax(torch.mv(input, vec), 0)
    return _given(s * (torch.rand_like(s) >= p) if training else s, out)


def negative_drops_in_inference(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    return _given(F.dropout(F.log_softmax(torch.mv(input, vec), 0), p), out)


def negative_sum_over_one_block(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    """Normalizes each block of 1024 rows by itself, as programs that do not share their sums."""
    s = torch.cat([F.log_softmax(z, 0) for z in torch.mv(input, vec).split(1024)])
    return _given(F.dropout(s, p, training), out)


def negative_padded_rows(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    """Lanes beyond the last row take part in the sum with z = 0."""
    z = torch.mv(input, vec)
    s = F.log_softmax(F.pad(z, (0, -len(z) % 64)), 0)[: len(z)]
    return _given(F.dropout(s, p, training), out)


def negative_same_mask_every_call(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    s = F.log_softmax(torch.mv(input, vec), 0)
    fixed = torch.rand(s.shape, generator=torch.Generator().manual_seed(0)).to(s.device)
    return _given(_dropped(s, fixed >= p, p) if training else s, out)


def negative_same_mask_in_every_block(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    s = F.log_softmax(torch.mv(input, vec), 0)
    mask = torch.rand(128, device=s.device).repeat(len(s) // 128 + 1)[: len(s)] >= p
    return _given(_dropped(s, mask, p) if training else s, out)
