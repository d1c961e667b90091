"""Attention with 8-bit query, key and value (W8A8), one head.

`attention_w8a8(query, key, value)` is `softmax(query @ keyᵀ / sqrt(D)) @ value` with query, key and value quantized to
signed 8-bit integers on the fly. `query` is float32 `(B, S, D)`, `key` and `value` are float32
`(B, T, D)`; the result is a new, contiguous float32 `(B, S, D)` tensor. All batches are independent.

1. *Query and key*, symmetric: a scale is the largest magnitude among the elements that share it, divided by 127, in
   float32, and 1 where all of them are zero; `qq_id = clamp(round(q_id / a), -127, 127)`, alike `kq_jd` with scale `b`.
   One scale is for a row, which is a token (as in the reference), for a matrix, or for the whole tensor, whichever for query
   and key each.
2. *Value* alike, `vq_jd = clamp(round(v_jd / c), -127, 127)`. One scale is for a column, which is an output channel (as
   in the reference), for a matrix, or for the whole tensor; where probabilities stay float32, it may be for a token.
3. *Scores*: `s_ij = float32(sum over d of qq_id · kq_jd) · a_i · b_j / sqrt(D)`, with the sum exact in int32.
4. *Probabilities*: `p_ij = softmax over j of s_ij` in float32, over all `T` keys. They stay float32, or are quantized:
   `pq_ij = clamp(round(p_ij / r), 0, 127)`, where `r` is 1 / 127, or the largest probability of a row (as in the
   reference), of a matrix or of the whole tensor, divided by 127. With `m_i` a row's largest score and
   `L_i = sum over j of exp(s_ij - m_i)`, the levels of rows are `pq_ij = round(127 · exp(s_ij - m_i))` and
   `r_i = 1 / (127 · L_i)`: the final maximum has to be known before anything is quantized, and `L_i` is a sum of
   unrounded exponentials.
5. *Result*: `out_id = float32(sum over j of pq_ij · vq_jd) · r · c`, with the sum exact in int32. Of probabilities that
   stayed float32 it is `sum over j of p_ij · (vq_jd · c)` in float32 (no TF32).

Which elements share a scale, and whether probabilities are quantized, is your choice, the same in all calls. `round` is
to the nearest integer. `1e-8` may be added to the scales of query, key and value, as a guard against zero. The result is compared with an exact emulation of each choice: it must agree with one of them to a
few units in the last place. Where the last bit of float32 arithmetic decides, either level is right and the tolerance of the
results that depend on it grows by just that step: a quotient of step 1 or 2 within 2⁻¹⁴ of halfway between two integers
(ties included) and, for probabilities, within 2⁻¹² of halfway plus what those freedoms and an error of 2⁻²⁰ of a score
do to its exponential; so does what a guard changes the scales. Unquantized query, key or value, or truncation are far outside. `T ≥ 1` and
`D ≥ 1`; `B` or `S` may be 0. All arguments may be non-contiguous. Values are finite.
"""

import torch

from kbx.suite import Schemes, call, quantized

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("matmul", "softmax", "quantization", "int8", "tensor-core", "fusion")

CASES = [
    dict(b=2, s=37, t=37, d=16),
    dict(b=3, s=33, t=65, d=64),
    dict(b=2, s=21, t=20, d=40, spread=True),
    dict(b=1, s=17, t=257, d=64),
    dict(b=1, s=1, t=1, d=8),
    dict(b=2, s=19, t=45, d=33, strided=True),
    dict(b=2, s=7, t=130, d=24, zeroed=True),
    dict(b=1, s=1, t=1, d=1),
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


MATRIX, TENSOR = (1, 2), (0, 1, 2)
TOKENS = dict(token=(2,), matrix=MATRIX, tensor=TENSOR)
COLUMNS = dict(column=(1,), matrix=MATRIX, tensor=TENSOR)
"""Dimensions with one scale."""
SCHEMES = tuple(
    dict(queries=q, keys=k, value_scale=v, probabilities=p)
    for p in ("row", "float32", "127ths", "matrix", "tensor")
    for q in TOKENS
    for k in TOKENS
    for v in (*COLUMNS, "token")
    if v != "token" or p == "float32"  # a scale for each token cannot leave a sum over tokens
)


def _by_scheme(query, key, value, queries, keys, value_scale, probabilities):
    (qq, a), (kq, b) = _scaled(query, TOKENS[queries]), _scaled(key, TOKENS[keys])
    vq, c = _scaled(value, (COLUMNS | TOKENS)[value_scale])
    scores = _integer_product(qq, kq.mT).float() * a * b.mT * query.shape[-1] ** -0.5
    p = torch.softmax(scores, -1)
    if probabilities == "float32":
        return (p @ (vq * c)).contiguous()
    if probabilities == "127ths":
        pq, r = torch.round(127 * p), 1 / 127
    else:
        pq, r = _scaled(p, dict(row=(2,), matrix=MATRIX, tensor=TENSOR)[probabilities])
    return _integer_product(pq, vq).float() * r * c


def _scaled(x, dims):
    """Whole numbers in float32, and scales that the elements of `dims` share."""
    scale = quantized.scale_of(x, dims)
    return torch.round(x / scale).clamp(-127, 127), scale


HALFWAY_P = 2.0**-12
"""How near to a half the level of a probability may be rounded either way, beyond what is unknown of the probability."""
SCORE_ULPS = 2.0**-20
"""Relative error of a score: scales, conversion, three products, and a change of base."""
ULPS = 24 * 2.0**-23
"""Relative error of exponentials, their sum, scales, and three products."""


def _emulated(query, key, value, queries, keys, value_scale, probabilities):
    q, k = quantized.levels(query, TOKENS[queries]), quantized.levels(key, TOKENS[keys])
    v = quantized.levels(value, (COLUMNS | TOKENS)[value_scale])

    def batches():
        """One at a time: its matrices are the largest here."""
        return (_Exponentials(*parts, query.shape[-1] ** -0.5) for parts in zip(_each(q), _each(k), strict=True))

    peak = _largest([_peak(e) for e in batches()]) if probabilities == "tensor" else None
    results = [_product(e, part, probabilities, peak) for e, part in zip(batches(), _each(v), strict=True)]
    if not results:
        return query.double(), query.double()
    truth, allowed = zip(*results, strict=True)
    return torch.stack(truth), torch.stack(allowed)


def _each(levels):
    """The `Levels` of each batch."""
    scales, doubts = (t.expand(len(levels.level), -1, -1) for t in (levels.scale, levels.doubt))
    return [quantized.Levels(*parts) for parts in zip(levels.level, scales, levels.steps, doubts, strict=True)]


class _Exponentials:
    """Of one batch's scores, less the largest of a row: `e`, between `low` and `high`; and their sums, known up to `ratio`."""

    def __init__(self, q, k, factor):
        unit = q.scale * k.scale.mT * factor
        scores = (q.level @ k.level.mT) * unit
        play = (q.steps @ k.level.abs().mT + (q.level.abs() + q.steps) @ k.steps.mT) * unit
        play = play + (SCORE_ULPS + q.doubt + k.doubt.mT) * (scores.abs() + play)
        # Every score lies within its play; so does the largest, and with both every exponential.
        low, high = scores - play, scores + play
        self.e = (scores - scores.amax(1, keepdim=True)).exp()
        self.low = (low - high.amax(1, keepdim=True)).exp()
        self.high = (high - low.amax(1, keepdim=True)).exp().clamp(max=1)
        self.total = self.e.sum(1, keepdim=True)
        sums = [t.sum(1, keepdim=True) for t in (self.low, self.high)]
        self.ratio = torch.maximum(sums[1] / self.total, self.total / sums[0]) - 1


def _peak(exponentials):
    """The largest probability of a matrix, and its relative error."""
    return 1 / exponentials.total.amin(), exponentials.ratio.amax()


def _largest(peaks):
    return [torch.stack(t).amax() for t in zip(*peaks, strict=True)]


def _product(exponentials, v, probabilities, peak):
    """The result of one batch, and how far each element may be from it."""
    if probabilities == "float32":
        return _float_product(exponentials, v)
    p = _levels(exponentials, probabilities, peak)
    scale = v.scale * p.scale
    truth = (p.level @ v.level) * scale
    step = (p.steps @ v.level.abs() + (p.level + p.steps) @ v.steps) * scale
    # A sum of integers is exact; its terms may cancel, and then nothing but a level's freedom is allowed.
    return truth, (ULPS + p.doubt + v.doubt) * (truth.abs() + step) + step


def _levels(exponentials, probabilities, peak):
    """The `Levels` of probabilities."""
    e, low, high, total, ratio = (getattr(exponentials, name) for name in ("e", "low", "high", "total", "ratio"))
    if probabilities == "row":  # the sum cancels in the levels, and is in the scale alone
        return quantized.between(127 * e, 127 * low, 127 * high, 1 / (127 * total), halfway=HALFWAY_P, doubt=ratio)
    one = torch.ones_like(total), torch.zeros_like(ratio)
    largest, doubt = one if probabilities == "127ths" else peak or _peak(exponentials)
    factor, slack = 127 / (total * largest), (1 + ratio) * (1 + doubt) * (1 + ULPS)
    quotients = e * factor, low * factor / slack, high * factor * slack
    return quantized.between(*quotients, largest / 127, halfway=HALFWAY_P, doubt=doubt)


def _float_product(exponentials, v):
    p = exponentials.e / exponentials.total
    error = torch.maximum(exponentials.high - exponentials.e, exponentials.e - exponentials.low) / exponentials.total
    error = error * (1 + exponentials.ratio) + p * exponentials.ratio
    terms, freedom = v.value.abs(), v.error
    rounding = ULPS + 2 * len(v.level) ** 0.5 * quantized.ULP
    # A probability below the smallest normal number may honestly be flushed to zero.
    tiny = torch.finfo(torch.float32).tiny
    return p @ v.value, (error + tiny) @ terms + (p + error) @ freedom + rounding * (p @ (terms + freedom))


CONTRACT = Schemes(_emulated, _by_scheme, SCHEMES, strides="contiguous")


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


def positive_guarded(query, key, value):
    """Adds 1e-8 to each scale."""

    def guarded(x, dim):
        scale = x.abs().amax(dim, keepdim=True) / 127 + 1e-8
        return torch.round(x / scale).double() * scale.double()

    return _attention(guarded(query, 2), guarded(key, 2), guarded(value, 1))


def _attention(q, k, v, levels=lambda p: _quantize(p, 2)):
    """Attention of dequantized operands in float64; `levels` quantizes the probabilities."""
    p = torch.softmax((q.double() @ k.double().mT).float() * q.shape[-1] ** -0.5, -1)
    pq, r = levels(p)
    return ((pq.double() @ v.double()).float() * r).contiguous()


def _dequantized(x, dims, bits=127, round=torch.round):
    """Quantized with one scale for all of `dims`, and back, in float64."""
    scale = quantized.scale_of(x, dims, bits)
    return round(x / scale).clamp(-bits, bits).double() * scale.double()


def _all_dequantized(query, key, value, **options):
    return (
        _dequantized(query, (2,), **options),
        _dequantized(key, (2,), **options),
        _dequantized(value, (1,), **options),
    )


def negative_never_quantized(query, key, value):
    return _attention(query, key, value, lambda p: (p, 1))


def negative_only_probabilities(query, key, value):
    return _attention(query, key, value)


def negative_unquantized_value(query, key, value):
    return _attention(_dequantized(query, (2,)), _dequantized(key, (2,)), value)


def negative_unquantized_scores(query, key, value):
    return _attention(query, key, _dequantized(value, (1,)))


def negative_value_scale_per_token(query, key, value):
    return _attention(_dequantized(query, (2,)), _dequantized(key, (2,)), _dequantized(value, (2,)))


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
