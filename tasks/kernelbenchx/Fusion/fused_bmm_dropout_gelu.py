"""Batched matrix product, then dropout, then GELU.

`fused_bmm_dropout_gelu(input1, input2, p=0.5, training=True, inplace=False, approximate='none', *, out=None)`

1. `z[b] = input1[b] @ input2[b]`, with `input1`: `(B, N, M)` and `input2`: `(B, M, P)`, both float32 or both
   float16. Products are added up in float32.
2. `d`: if `training`, every element of `z` is independently set to 0 with probability `p` and multiplied by
   `1 / (1 - p)` otherwise; `p = 1` gives zeros only. If not `training`, or if `p = 0`, `d = z`.
3. The result is `GELU(d)`, of shape `(B, N, P)` and `input1`'s dtype:
   - `approximate='none'`: `d · (1 + erf(d / √2)) / 2`;
   - `approximate='tanh'`: `d · (1 + tanh(√(2/π) · (d + 0.044715 d³))) / 2`.

Which elements are dropped is the kernel's own choice, at random: independent of the data and of each other, and anew in
each call, so seed from `torch`'s generator or a counter. `inplace` concerns an intermediate that the caller never sees:
it changes nothing. `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

`input1` and `input2` may be non-contiguous or expanded, `B` and `M` may be 0 (`z` is then 0). The strides of a new
result are free. Float32 products are float32: no TF32, no half precision there. In float16, `z` and `d` may be rounded
to float16 or stay float32.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Random, call, dropout_complaints

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("matmul", "random", "fusion")

CASES = [
    dict(batch=3, n=37, m=19, columns=33),
    dict(batch=1, n=19, m=4100, columns=16, p=0.1, dtype=torch.float16),
    dict(batch=4, n=13, m=18, columns=29, training=False),
    dict(batch=5, n=17, m=33, columns=47, p=0.3, inplace=True),
    dict(batch=2, n=45, m=21, columns=35, p=0.2, approximate="tanh"),
    dict(batch=2, n=32, m=64, columns=48, p=0.1, approximate="tanh", dtype=torch.float16),
    dict(batch=1, n=1, m=1, columns=1),
    dict(batch=2, n=21, m=33, columns=29, p=0.3, dtype=torch.float16, strided=True),
    dict(batch=3, n=11, m=31, columns=23, out=True),
    dict(batch=4, n=13, m=17, columns=29, training=False, shared=True),
    dict(batch=2, n=5, m=9, columns=11, p=1.0),
    dict(batch=2, n=5, m=0, columns=3),
]

SIZES = [
    dict(batch=32, n=128, m=128, columns=128),
    dict(batch=32, n=256, m=256, columns=256),
    dict(batch=32, n=768, m=768, columns=768, p=0.1),
    dict(batch=16, n=1536, m=1536, columns=1536),
]


def fused_bmm_dropout_gelu(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    z = torch.bmm(input1, input2)
    # Of 16-bit numbers PyTorch's own dropout repeats parts of its mask on some devices; of float32 it does not.
    d = F.dropout(z.to(torch.promote_types(z.dtype, torch.float32)), p, training, inplace).to(z.dtype)
    return _given(F.gelu(d, approximate=approximate), out)


def _given(result, out):
    return result if out is None else out.copy_(result)


def inputs(
    make, batch, n, m, columns, p=0.5, training=True, inplace=False, approximate="none",
    strided=False, shared=False, out=False, dtype=None,
):  # fmt: skip
    """``input2`` is scaled by 1/sqrt(M) up to a quarter, so that GELU is not saturated; ``shared``: one ``input2`` for all."""
    x = make.floats(batch, n, m, dtype=dtype)
    y = make.plain(1 if shared else batch, m, columns, dtype=dtype) * max(max(1, m) ** -0.5, 0.25)
    if strided:
        x, y = make.strided(x), make.strided(y)
    target = make.plain(batch, n, columns, dtype=dtype) if out else None
    y = make.expanded(y, batch, m, columns)
    return call(x, y, p=p, training=training, inplace=inplace, approximate=approximate, out=target)


def check(args, kwargs, results, expected):
    p = kwargs["p"] if kwargs["training"] else 0.0

    def kept(x, y):
        z = torch.bmm(x, y)
        return F.gelu(z / (1 - p) if p < 1 else z, approximate=kwargs["approximate"])

    x, y = args
    return dropout_complaints(results, p, kept(x, y), kept(x.double(), y.double()))


CONTRACT = Random(check)


def _dropped(z, mask, p):
    return z * mask / (1 - p) if p < 1 else torch.zeros_like(z)


def positive_own_mask(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    wide = torch.promote_types(input1.dtype, torch.float32)
    z = (input1.to(wide).unsqueeze(-1) * input2.to(wide).unsqueeze(1)).sum(-2)
    d = _dropped(z, torch.rand_like(z) >= p, p) if training else z
    if approximate == "tanh":
        y = d * torch.sigmoid(1.5957691216057308 * (d + 0.044715 * d * d * d))
    else:
        y = 0.5 * d * (1 + torch.erf(d * 0.5**0.5))
    return _given(y.to(input1.dtype), out)


def negative_half_sums(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    """Rounds the running sum to the dtype after every 16 products."""
    z = 0
    for x, y in zip(input1.split(16, 2), input2.split(16, 1), strict=True):
        z = (z + torch.bmm(x.float(), y.float())).to(input1.dtype).float()
    d = F.dropout(z, p, training).to(input1.dtype)
    return _given(F.gelu(d, approximate=approximate), out)


def negative_gelu_before_dropout(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    return _given(F.dropout(F.gelu(torch.bmm(input1, input2), approximate=approximate), p, training), out)


def negative_always_erf(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    return _given(F.gelu(F.dropout(torch.bmm(input1, input2), p, training)), out)


def negative_always_tanh(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    return _given(F.gelu(F.dropout(torch.bmm(input1, input2), p, training), approximate="tanh"), out)


def negative_not_rescaled(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    z = torch.bmm(input1, input2)
    return _given(F.gelu(z * (torch.rand_like(z) >= p) if training else z, approximate=approximate), out)


def negative_drops_in_inference(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    return _given(F.gelu(F.dropout(torch.bmm(input1, input2), p), approximate=approximate), out)


def negative_ignores_out(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    return F.gelu(F.dropout(torch.bmm(input1, input2), p, training), approximate=approximate)


def negative_one_mask_for_the_batch(
    input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None
):
    z = torch.bmm(input1, input2)
    d = _dropped(z, torch.rand(z.shape[1:], device=z.device) >= p, p) if training else z
    return _given(F.gelu(d, approximate=approximate), out)


def negative_same_mask_every_call(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    z = torch.bmm(input1, input2)
    fixed = torch.rand(z.shape, generator=torch.Generator().manual_seed(0)).to(z.device)
    return _given(F.gelu(_dropped(z, fixed >= p, p) if training else z, approximate=approximate), out)


def negative_tf32(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    x, y = (
        (t.float().contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32).to(t.dtype) for t in (input1, input2)
    )
    return _given(F.gelu(F.dropout(torch.bmm(x, y), p, training), approximate=approximate), out)
