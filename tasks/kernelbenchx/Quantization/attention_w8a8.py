"""Attention with 8-bit operands in both matrix products (W8A8), one head.

`attention_w8a8(query, key, value)` is `softmax(query @ keyᵀ / sqrt(D)) @ value` with every operand of a product
quantized to signed 8-bit integers on the fly. `query` is float32 `(B, S, D)`, `key` and `value` are float32
`(B, T, D)`; the result is a new, contiguous float32 `(B, S, D)` tensor. All batches are independent.

1. *Query and key*, symmetric, one scale per row (a token): `a_i = max over d of |q_id| / 127` in float32, and 1 where
   the row is all zero; `qq_id = clamp(round(q_id / a_i), -127, 127)`. Alike `b_j` and `kq_jd` for row `j` of `key`.
2. *Value*, symmetric, one scale per output channel, which is a column of `value`: `c_d = max over j of |v_jd| / 127`, 1
   where the column is all zero; `vq_jd = clamp(round(v_jd / c_d), -127, 127)`.
3. *Scores*: `s_ij = float32(sum over d of qq_id · kq_jd) · a_i · b_j / sqrt(D)`, with the sum exact in int32.
4. *Probabilities*: `p_ij = softmax over j of s_ij` in float32, over all `T` keys, then quantized with one scale per
   row: `r_i = max over j of p_ij / 127`, `pq_ij = clamp(round(p_ij / r_i), 0, 127)`. With `m_i` the row's largest score
   and `L_i = sum over j of exp(s_ij - m_i)`, that is `pq_ij = round(127 · exp(s_ij - m_i))` and
   `r_i = 1 / (127 · L_i)`: the final maximum has to be known before anything is quantized, and `L_i` is a sum of
   unrounded exponentials.
5. *Result*: `out_id = float32(sum over j of pq_ij · vq_jd) · r_i · c_d`, with the sum exact in int32.

`round` is to the nearest integer. The result is compared with an integer-exact emulation: it must agree to a few units
in the last place. Where the last bit of float32 arithmetic decides, either level is right and the tolerance of the
results that depend on it grows by just that step: a quotient of step 1 or 2 within 2⁻¹⁴ of halfway between two integers
(ties included) and, for probabilities, within 2⁻¹² of halfway plus what those freedoms and an error of 2⁻²⁰ of a score
do to its exponential. Unquantized operands or probabilities, coarser scales, or truncation are far outside. `T ≥ 1` and
`D ≥ 1`; `B` or `S` may be 0. All arguments may be non-contiguous. Values are finite.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("matmul", "softmax", "quantization", "int8", "tensor-core", "fusion")
TESTED = ()

CASES = [
    dict(b=1, s=1, t=1, d=1),
    dict(b=2, s=37, t=37, d=16),
    dict(b=2, s=19, t=45, d=33, strided=True),
    dict(b=3, s=33, t=65, d=64),
    dict(b=2, s=7, t=130, d=24, zeroed=True),
    dict(b=2, s=21, t=20, d=40, spread=True),
    dict(b=1, s=17, t=257, d=64),
    dict(b=0, s=5, t=9, d=16),
]

SIZES = [
    dict(b=2, s=512, t=512, d=64),
    dict(b=2, s=2048, t=2048, d=64),
    dict(b=1, s=4096, t=4096, d=64),
    dict(b=8, s=4096, t=4096, d=64),
]


def attention_w8a8(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    (qq, a), (kq, b), (vq, c) = _quantize(query, 2), _quantize(key, 2), _quantize(value, 1)
    scores = _integer_product(qq, kq.mT).float() * a * b.mT * query.shape[-1] ** -0.5
    p = torch.softmax(scores, -1)
    pq, r = _quantize(p, 2)
    return _integer_product(pq, vq).float() * r * c


def _quantize(x, dim):
    """Whole numbers in float32, and their scales."""
    scale = x.abs().amax(dim, keepdim=True) / 127
    scale = torch.where(scale > 0, scale, 1)
    return torch.round(x / scale).clamp(-127, 127), scale


def _integer_product(x, y):
    """Exact: in int8 where the library has it (it wants more than 16 rows, other sizes in eights), else in float64.

    The library multiplies one pair at a time, and is fastest with the right operand in column order.
    """
    if x.is_cuda and len(x) and x.shape[1] > 16 and y.shape[1] % 8 == 0 and y.shape[2] % 8 == 0:
        pairs = zip(x.to(torch.int8).contiguous(), y.mT.to(torch.int8).contiguous(), strict=True)
        return torch.stack([torch._int_mm(a, b.t()) for a, b in pairs])
    return (x.double() @ y.double()).contiguous()


def inputs(make, b, s, t, d, strided=False, zeroed=False, spread=False):
    """`spread`: rows of query and key, columns of value, of very different size. `zeroed`: some all zero."""
    q, k, v = make.floats(b, s, d), make.plain(b, t, d), make.plain(b, t, d)
    if spread:
        q, k = (x * make.plain(*x.shape[:2], 1, low=-4, high=2).exp2() for x in (q, k))
        v = v * make.plain(b, 1, d, low=-6, high=2).exp2()
    if zeroed:
        q[:, ::3], k[:, ::4], v[..., ::5] = 0, 0, 0
    return call(make.strided(q), make.strided(k), make.strided(v)) if strided else call(q, k, v)


HALFWAY, HALFWAY_P = 2.0**-14, 2.0**-12
"""How near to a half a quotient up to 127 may be rounded either way: for inputs, and for probabilities."""
SCORE_ULPS = 2.0**-20
"""Relative error of a score: scales, conversion, three products, and a change of base."""
ULPS = 24 * 2.0**-23
"""Relative error of exponentials, their sum, scales, and three products."""


def check(args, kwargs, result, expected):
    complaints = (_one_batch(b, *matrices) for b, matrices in enumerate(zip(*args, result, strict=True)))
    return next(([text] for text in complaints if text), [])


def _one_batch(batch, query, key, value, result):
    (qq, a, q_free), (kq, b, k_free), (vq, c, v_free) = (
        _exact_levels(x, dim) for x, dim in ((query, 1), (key, 1), (value, 0))
    )
    unit = a * b.mT * query.shape[-1] ** -0.5
    scores = (qq @ kq.mT) * unit
    play = (q_free @ kq.abs().mT + (qq.abs() + q_free) @ k_free.mT) * unit + SCORE_ULPS * scores.abs()
    # Every score lies within its play; so does the largest, and with both every exponential.
    low, high = scores - play, scores + play
    e = (scores - scores.amax(1, keepdim=True)).exp()
    e_low = (low - high.amax(1, keepdim=True)).exp()
    e_high = (high - low.amax(1, keepdim=True)).exp().clamp(max=1)
    total = e.sum(1, keepdim=True)
    ratio = torch.maximum(e_high.sum(1, keepdim=True) / total, total / e_low.sum(1, keepdim=True)) - 1
    pq = torch.round(127 * e)
    p_low = torch.ceil(127 * e_low - 0.5 - HALFWAY_P).clamp(min=0)
    p_high = torch.floor(127 * e_high + 0.5 + HALFWAY_P).clamp(max=127)
    steps = torch.maximum(pq - p_low, p_high - pq)
    scale = c / (127 * total)
    truth = (pq @ vq) * scale
    step = (steps @ vq.abs() + (pq + steps) @ v_free) * scale
    # A sum of integers is exact; its terms may cancel, and then nothing but a level's freedom is allowed.
    allowed = (ULPS + ratio) * (truth.abs() + step) + step
    right = (result.double() - truth).abs() <= allowed
    if right.all():
        return None
    i, d = (~right).nonzero()[0].tolist()
    return (
        f"{int((~right).sum())} wrong elements, first [{batch}, {i}, {d}]: expected {truth[i, d]:.9g}, "
        f"got {result[i, d]:.9g}, allowed error {allowed[i, d]:.3g}; one step of this row's scale times this column's "
        f"is {scale[i, d]:.3g}"
    )


def _exact_levels(x, dim):
    """Levels and scales in float64, and a 1 for each level that may be one step off."""
    q, scale = _quantize(x, dim)
    quotient = x.double() / scale.double()
    free = ((quotient - quotient.floor() - 0.5).abs() < HALFWAY).double()
    return q.double(), scale.double(), free


CONTRACT = Property(check, strides="contiguous")


def positive_two_passes(query, key, value):
    """Reciprocal scales, halves away from zero; maximum and sum over blocks of keys first, levels by base two then."""

    def levels(x, dim):
        inverse = 127 / x.abs().amax(dim, keepdim=True)
        inverse = torch.where(inverse.isfinite(), inverse, 1)
        return torch.sign(x) * torch.floor((x * inverse).abs() + 0.5), 1 / inverse

    (qq, a), (kq, b), (vq, c) = levels(query, 2), levels(key, 2), levels(value, 1)
    scores = (qq.double() @ kq.double().mT).float() * (a * (1.4426950408889634 * query.shape[-1] ** -0.5)) * b.mT
    top = torch.full_like(query[..., :1], float("-inf"))
    total = torch.zeros_like(top)
    for block in scores.split(32, 2):
        new_top = torch.maximum(top, block.amax(2, keepdim=True))
        total = total * torch.exp2(top - new_top) + torch.exp2(block - new_top).sum(2, keepdim=True)
        top = new_top
    pq = torch.floor(127 * torch.exp2(scores - top) + 0.5)
    return ((pq.double() @ vq.double()).float() * (c / (127 * total))).contiguous()


def _attention(q, k, v, levels=lambda p: _quantize(p, 2)):
    """Attention of dequantized operands in float64; `levels` quantizes the probabilities."""
    p = torch.softmax((q.double() @ k.double().mT).float() * q.shape[-1] ** -0.5, -1)
    pq, r = levels(p)
    return ((pq.double() @ v.double()).float() * r).contiguous()


def _dequantized(x, dims, bits=127, round=torch.round):
    """Quantized with one scale for all of `dims`, and back, in float64."""
    scale = (x.abs().amax(dims, keepdim=True) if x.numel() else x.new_ones(1, 1, 1)) / bits
    scale = torch.where(scale > 0, scale, 1)
    return round(x / scale).clamp(-bits, bits).double() * scale.double()


def _all_dequantized(query, key, value, **options):
    return _dequantized(query, 2, **options), _dequantized(key, 2, **options), _dequantized(value, 1, **options)


def negative_never_quantized(query, key, value):
    return _attention(query, key, value, lambda p: (p, 1))


def negative_unquantized_probabilities(query, key, value):
    return _attention(*_all_dequantized(query, key, value), lambda p: (p, 1))


def negative_only_probabilities(query, key, value):
    return _attention(query, key, value)


def negative_unquantized_value(query, key, value):
    return _attention(_dequantized(query, 2), _dequantized(key, 2), value)


def negative_unquantized_scores(query, key, value):
    return _attention(query, key, _dequantized(value, 1))


def negative_scale_per_tensor(query, key, value):
    return _attention(*(_dequantized(x, (0, 1, 2)) for x in (query, key, value)))


def negative_query_scale_per_matrix(query, key, value):
    return _attention(_dequantized(query, (1, 2)), _dequantized(key, 2), _dequantized(value, 1))


def negative_key_scale_per_matrix(query, key, value):
    return _attention(_dequantized(query, 2), _dequantized(key, (1, 2)), _dequantized(value, 1))


def negative_value_scale_per_token(query, key, value):
    return _attention(_dequantized(query, 2), _dequantized(key, 2), _dequantized(value, 2))


def negative_probabilities_in_127ths(query, key, value):
    """A fixed scale of 1 / 127 for the probabilities of every row."""
    return _attention(*_all_dequantized(query, key, value), lambda p: (torch.round(127 * p), 1 / 127))


def negative_normalizes_by_levels(query, key, value):
    """Divides by the sum of rounded exponentials."""

    def levels(p):
        pq = _quantize(p, 2)[0]
        return pq, 1 / pq.sum(2, keepdim=True)

    return _attention(*_all_dequantized(query, key, value), levels)


def negative_running_maximum(query, key, value):
    """Quantizes each block of 16 keys by the maximum so far, and rescales sums afterwards, as online softmax does."""

    def levels(p):
        top = torch.cummax(p, 2).values[..., [min(j | 15, p.shape[2] - 1) for j in range(p.shape[2])]]
        return torch.round(p / top * 127) * top, 1 / 127

    return _attention(*_all_dequantized(query, key, value), levels)


def negative_truncated(query, key, value):
    """Converts to int8 without rounding."""
    return _attention(*_all_dequantized(query, key, value, round=torch.trunc))


def negative_truncated_probabilities(query, key, value):
    def levels(p):
        r = _quantize(p, 2)[1]
        return (p / r * (1 + 1e-6)).trunc(), r

    return _attention(*_all_dequantized(query, key, value), levels)


def negative_wraps_without_clamp(query, key, value):
    """A scale of max / 128 takes the largest element to 128, which wraps around to -128 unless it is clamped."""

    def wrapped(x, dim):
        scale = x.abs().amax(dim, keepdim=True) / 128
        scale = torch.where(scale > 0, scale, 1)
        return torch.round(x / scale).to(torch.int16).to(torch.int8).double() * scale.double()

    return _attention(wrapped(query, 2), wrapped(key, 2), wrapped(value, 1))


def negative_seven_bits(query, key, value):
    return _attention(*_all_dequantized(query, key, value, bits=63))


def negative_unscaled_scores(query, key, value):
    return attention_w8a8(query * query.shape[-1] ** 0.5, key, value)


def negative_unmasked_key_tail(query, key, value):
    """Pads the keys to a multiple of 16 and lets the padding, score 0, into the softmax."""
    padding = (0, 0, 0, -key.shape[1] % 16)
    return attention_w8a8(query, *(torch.nn.functional.pad(x, padding) for x in (key, value)))
