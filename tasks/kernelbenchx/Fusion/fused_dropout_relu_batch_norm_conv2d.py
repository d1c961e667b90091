"""Two-dimensional convolution, then batch normalization, then ReLU, then dropout.

`fused_dropout_relu_batch_norm_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, p=0.5,
training=True, inplace=False)`

1. `z`: the convolution (cross-correlation, the kernel is not flipped) of `input`: `(N, C_in, H, W)` with `weight`:
   `(C_out, C_in / groups, kH, kW)`, plus `bias`: `(C_out,)` or `None`. `stride`, `padding` and `dilation` are an int or
   a pair (vertical, horizontal). Padding is with zeros on both sides; `padding='valid'` means 0, and `padding='same'`
   (stride 1) pads `dilation · (k - 1)` in all, the smaller half in front, so that the size stays. Output channels of
   group `g` see the input channels of group `g` only.
2. `n = (z - μ) / sqrt(σ² + 1e-5)`, with the mean `μ` and the *biased* variance `σ²` of each output channel over `N`,
   `H_out` and `W_out`, at least two elements. These are the batch's own also if not `training`: there are no running
   statistics, and no learned factors.
3. `r = max(n, 0)`.
4. If `training`, every element of `r` is independently set to 0 with probability `p` and multiplied by `1 / (1 - p)`
   otherwise; `p = 1` gives zeros only. If not `training`, or if `p = 0`, the result is `r`.

Which elements are dropped is the kernel's own choice, at random: independent of the data and of each other, and anew in
each call, so seed from `torch`'s generator or a counter. `inplace` concerns intermediates that the caller never sees:
`input` is left as it was. `input` and `weight` may be non-contiguous. The result is a new float32 tensor of any
strides. Products and sums are float32: no TF32, no half precision.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Random, call, dropout_complaints

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("convolution", "normalization", "random", "fusion")

CASES = [
    dict(shape=(2, 3, 11, 13), weight=(19, 3, 3, 3)),
    dict(shape=(1, 5, 17, 19), weight=(11, 5, 3, 2), stride=2, padding=1),
    dict(shape=(3, 6, 9, 11), weight=(18, 1, 3, 3), groups=6, p=0.1),
    dict(shape=(1, 1, 37, 31), weight=(3, 1, 5, 5), padding=1, p=0.3),
    dict(shape=(2, 17, 7, 5), weight=(23, 17, 1, 1), p=0.2),
    dict(shape=(2, 1, 1, 1), weight=(1, 1, 1, 1)),
    dict(shape=(2, 4, 19, 20), weight=(10, 4, 3, 2), p=0.2, strided=True),
    dict(shape=(2, 4, 19, 20), weight=(10, 4, 3, 2), stride=(2, 1)),
    dict(shape=(2, 4, 20, 19), weight=(6, 2, 3, 3), dilation=2, groups=2),
    dict(shape=(1, 6, 13, 14), weight=(18, 1, 5, 4), padding="same", dilation=(1, 2), groups=6),
    dict(shape=(3, 5, 9, 7), weight=(7, 5, 2, 3), padding="valid", bias=False),
    dict(shape=(3, 5, 9, 7), weight=(7, 5, 2, 3), training=False),
    dict(shape=(2, 3, 8, 8), weight=(4, 3, 3, 3), p=0.0),
    dict(shape=(2, 19, 5, 5), weight=(17, 19, 1, 1), stride=2, p=1.0, inplace=True),
]

SIZES = [
    dict(shape=(1, 3, 32, 32), weight=(64, 3, 3, 3)),
    dict(shape=(16, 64, 28, 28), weight=(64, 64, 3, 3), padding=1),
    dict(shape=(1, 3, 768, 768), weight=(64, 3, 3, 3), p=0.1),
    dict(shape=(32, 128, 56, 56), weight=(128, 128, 3, 3), padding=1),
]

EPS = 1e-5


def fused_dropout_relu_batch_norm_conv2d(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor = None,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
) -> torch.Tensor:
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    r = F.relu(F.batch_norm(z, None, None, training=True, eps=EPS), inplace)
    return F.dropout(r, p, training, inplace)


def inputs(
    make, shape, weight, bias=True, stride=1, padding=0, dilation=1, groups=1, p=0.5, training=True, inplace=False,
    strided=False,
):  # fmt: skip
    x, w = make.floats(*shape), make.plain(*weight)
    if strided:
        x, w = make.strided(x), make.strided(w)
    b = make.plain(weight[0]) if bias else None
    return call(
        x, w, b, stride=stride, padding=padding, dilation=dilation, groups=groups,
        p=p, training=training, inplace=inplace,
    )  # fmt: skip


def check(args, kwargs, results, expected):
    p = kwargs["p"] if kwargs["training"] else 0.0
    convolution = {k: kwargs[k] for k in ("stride", "padding", "dilation", "groups")}

    def kept(x, w, b):
        r = F.relu(F.batch_norm(F.conv2d(x, w, b, **convolution), None, None, training=True, eps=EPS))
        return r / (1 - p) if p < 1 else r

    truth = kept(*(None if t is None else t.double() for t in args))
    return dropout_complaints(results, p, kept(*args), truth)


CONTRACT = Random(check)


def _normalized(z, eps=EPS, correction=0):
    dims = (0, 2, 3)
    centred = z - z.mean(dims, keepdim=True)
    count = z.numel() // z.shape[1] - correction
    return centred / torch.sqrt(centred.square().sum(dims, keepdim=True) / count + eps)


def _dropped(r, mask, p, training):
    if not training:
        return r
    return r * mask / (1 - p) if p < 1 else torch.zeros_like(r)


def positive_unfold(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, p=0.5, training=True, inplace=False
):
    """Patches as columns, one matrix product a group; the bias falls out of the normalization."""
    v, h = (dilation, dilation) if isinstance(dilation, int) else dilation
    (kh, kw), same = weight.shape[2:], padding == "same"
    top, left = ((v * (kh - 1)) // 2, (h * (kw - 1)) // 2) if same else (0, 0)
    padded = F.pad(input, (left, h * (kw - 1) - left, top, v * (kh - 1) - top)) if same else input
    columns = F.unfold(padded, (kh, kw), dilation, 0 if isinstance(padding, str) else padding, stride)
    columns = columns.reshape(len(input), groups, -1, columns.shape[-1])
    z = torch.einsum("gok,ngkp->ngop", weight.reshape(groups, weight.shape[0] // groups, -1), columns)
    r = _normalized(z.reshape(F.conv2d(input, weight, None, stride, padding, dilation, groups).shape)).clamp(min=0)
    return _dropped(r, torch.rand_like(r) >= p, p, training)


def negative_relu_before_norm(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, p=0.5, training=True, inplace=False
):
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return F.dropout(_normalized(F.relu(z)), p, training)


def negative_unbiased_variance(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, p=0.5, training=True, inplace=False
):
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return F.dropout(F.relu(_normalized(z, correction=1)), p, training)


def negative_no_eps(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, p=0.5, training=True, inplace=False
):
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return F.dropout(F.relu(_normalized(z, eps=0.0)), p, training)


def negative_no_norm_in_inference(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, p=0.5, training=True, inplace=False
):
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return F.dropout(F.relu(_normalized(z) if training else z), p, training)


def negative_drops_in_inference(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, p=0.5, training=True, inplace=False
):
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return F.dropout(F.relu(_normalized(z)), p)


def negative_drops_channels(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, p=0.5, training=True, inplace=False
):
    r = F.relu(_normalized(F.conv2d(input, weight, bias, stride, padding, dilation, groups)))
    return _dropped(r, torch.rand(*r.shape[:2], 1, 1, device=r.device) >= p, p, training)


def negative_one_mask_for_the_batch(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, p=0.5, training=True, inplace=False
):
    r = F.relu(_normalized(F.conv2d(input, weight, bias, stride, padding, dilation, groups)))
    return _dropped(r, torch.rand(r.shape[1:], device=r.device) >= p, p, training)


def negative_same_mask_every_call(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, p=0.5, training=True, inplace=False
):
    r = F.relu(_normalized(F.conv2d(input, weight, bias, stride, padding, dilation, groups)))
    fixed = torch.rand(r.shape, generator=torch.Generator().manual_seed(0)).to(r.device)
    return _dropped(r, fixed >= p, p, training)


def negative_swapped_pairs(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, p=0.5, training=True, inplace=False
):
    swap = [v[::-1] if isinstance(v, tuple) else v for v in (stride, padding, dilation)]
    r = F.relu(_normalized(F.conv2d(input, weight, bias, *swap, groups)))
    return F.dropout(r, p, training)
