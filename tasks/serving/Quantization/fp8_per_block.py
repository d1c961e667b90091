"""FP8 quantization of a weight matrix with a scale for each block of 128 × 128, as DeepSeek-V3 publishes its weights.

`fp8_per_block(w)` returns the tuple `(q, scale)` for bfloat16 `w` `(N, K)`:

- `scale` is float32 `(ceil(N / 128), ceil(K / 128))`: the largest magnitude of `w` in rows `128 i … 128 i + 127` and columns `128 j … 128 j +
  127`, divided by 448, and 1 where the block is all zero. Blocks at the border are smaller where `N` or `K` is not a multiple of 128;
- `q` is float8 e4m3 without infinities (`torch.float8_e4m3fn`, largest number 448) `(N, K)`: `w[n, k] / scale[n // 128, k // 128]`, rounded to
  nearest, ties to even. `q · scale` stands for `w`.

`w` is contiguous, `N ≥ 1`, `K ≥ 1`; both results are new and contiguous. The quotient is computed in float32: where its last bit decides
between two numbers of `q`, either is right, but no more than about one element in 128 may so differ from the exact one.

Sizes: projections of DeepSeek-V3 (7168 × 2048 and back in an expert, 24576 × 1536, 18432 × 7168) and Qwen3-235B-A22B (4096 × 1536), and Llama 3.1
70B's (28672 × 8192), after their model cards. Weights are in proportion to the elements, an expert's matrices counted four times.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "bfloat16"
TAGS = ("quantization", "fp8", "reduction", "memory-bound", "inference")

CASES = [
    dict(n=128, k=128),
    dict(n=37, k=45),
    dict(n=131, k=257),
    dict(n=1, k=300),
    dict(n=260, k=3),
    dict(n=256, k=384, spread=True),
    dict(n=140, k=150, zero_block=True),
    dict(n=1, k=1),
    dict(n=130, k=260, spread=True),
]

SIZES = [
    dict(n=2048, k=7168),
    dict(n=7168, k=2048),
    dict(n=1536, k=4096),
    dict(n=24576, k=1536),
    dict(n=18432, k=7168),
    dict(n=28672, k=8192),
]
WEIGHTS = [6, 6, 2.5, 3.8, 13.2, 23.5]

CONTRACT = Close(strides="contiguous")


def _blocks(w):
    """`(blocks down, 128, blocks across, 128)`, with zeros beyond the border."""
    n, k = w.shape
    padded = torch.nn.functional.pad(w, (0, -k % 128, 0, -n % 128))
    return padded.view(padded.shape[0] // 128, 128, padded.shape[1] // 128, 128)


def fp8_per_block(w):
    wide = _blocks(w.to(torch.promote_types(w.dtype, torch.float32)))
    scale = wide.abs().amax((1, 3)) / 448
    scale = torch.where(scale > 0, scale, 1)
    q = (wide / scale[:, None, :, None]).clamp(-448, 448).flatten(2).flatten(0, 1)
    return q[: w.shape[0], : w.shape[1]].to(torch.float8_e4m3fn).contiguous(), scale


def inputs(make, n, k, spread=False, zero_block=False):
    """`spread`: blocks of very different size, which another scale cannot serve."""
    w = make.floats(n, k)
    if spread:
        factor = make.plain((n + 127) // 128, (k + 127) // 128, low=-8, high=8).exp2()
        w = w * factor.repeat_interleave(128, 0).repeat_interleave(128, 1)[:n, :k]
    if zero_block:
        w[:128, :128] = 0
    return call(w)


def _expanded(scale, w):
    """A scale for each element of `w`."""
    return scale.repeat_interleave(128, 0).repeat_interleave(128, 1)[: w.shape[0], : w.shape[1]]


def _by(w, scale, expanded=None):
    expanded = _expanded(scale, w) if expanded is None else expanded
    return (w.float() / expanded).clamp(-448, 448).to(torch.float8_e4m3fn), scale


def _scale(w, largest=448.0):
    scale = _blocks(w.float()).abs().amax((1, 3)) / largest
    return torch.where(scale > 0, scale, 1)


def positive_reciprocal(w):
    """Multiplies by a reciprocal."""
    scale = _scale(w)
    return (w.float() * _expanded(1 / scale, w)).clamp(-448, 448).to(torch.float8_e4m3fn), scale


def positive_block_by_block(w):
    scale, q = torch.empty_like(_scale(w)), torch.empty(w.shape, dtype=torch.float8_e4m3fn, device=w.device)
    for i in range(scale.shape[0]):
        for j in range(scale.shape[1]):
            block = w[128 * i : 128 * i + 128, 128 * j : 128 * j + 128].float()
            top = torch.maximum(block.amax(), -block.amin())
            scale[i, j] = torch.where(top > 0, top / 448, 1)
            q[128 * i : 128 * i + 128, 128 * j : 128 * j + 128] = (block / scale[i, j]).to(q.dtype)
    return q, scale


def negative_scale_per_tensor(w):
    scale = _scale(w)
    return _by(w, scale.amax().expand(scale.shape).contiguous())


def negative_scale_per_group_of_a_row(w):
    """Blocks of 1 × 128, of which the first row's scales are returned."""
    n, k = w.shape
    groups = torch.nn.functional.pad(w.float(), (0, -k % 128)).view(n, -1, 128).abs().amax(2) / 448
    groups = torch.where(groups > 0, groups, 1)
    return _by(w, groups[::128].contiguous(), groups.repeat_interleave(128, 1)[:, :k])


def negative_blocks_transposed(w):
    """The scale of block (j, i) for block (i, j), where there is one."""
    scale = _scale(w)
    i, j = (torch.arange(size, device=w.device) for size in scale.shape)
    swapped = scale[(j[None, :] % len(i)).expand_as(scale), (i[:, None] % len(j)).expand_as(scale)]
    return _by(w, swapped.contiguous())


def negative_blocks_of_64(w):
    """Scales of the upper left quarter of each block."""
    blocks = _blocks(w.float())[:, :64, :, :64].abs().amax((1, 3)) / 448
    return _by(w, torch.where(blocks > 0, blocks, 1))


def negative_reciprocal_scale(w):
    scale = _scale(w)
    return _by(w, scale)[0], 1 / scale


def negative_truncated(w):
    """Cuts off in place of rounding."""
    scale = _scale(w)
    quotient = (w.float() / _expanded(scale, w)).clamp(-448, 448)
    near = quotient.to(torch.float8_e4m3fn)
    lower = (near.view(torch.uint8) - 1).view(torch.float8_e4m3fn)
    return torch.where(near.float().abs() > quotient.abs(), lower.float(), near.float()).to(near.dtype), scale


def negative_zero_scale_of_zero_block(w):
    """Divides zero by zero, and keeps the scale."""
    scale = _blocks(w.float()).abs().amax((1, 3)) / 448
    return _by(w, scale)
