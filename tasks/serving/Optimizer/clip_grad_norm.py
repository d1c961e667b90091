"""Clipping of gradients by their global norm, in place.

`clip_grad_norm(grads, max_norm)` takes a list of float32 tensors of any shapes. With `norm` the square root of the sum of the squares of *all*
their elements, it multiplies each tensor in place by `min(1, max_norm / (norm + 1e-6))`, and returns `norm`, a float32 tensor without dimensions,
as it was before clipping.

All are contiguous, none is empty, and `max_norm` is a positive float. Sums are float32. The host need not know the norm: waiting for it costs
more than the kernels. Gradients that need no clipping keep every bit.

Sizes: the gradients of one layer of Llama 3.2 1B, Llama 3.1 8B (QKV 6144 × 4096, output, gate and up 28672 × 4096, down, two norms) and
Qwen2.5-7B (with biases), of Mamba-2.8B's block, and of two and of eight experts of Mixtral 8x7B, after their model cards. Weights are in
proportion to the elements.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("reduction", "optimizer", "in-place", "memory-bound", "training")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "wide", "large", "zeros")
MUTATES = ("grads",)

CASES = [
    dict(shapes=[(37, 45), (131,), (5, 7, 11)]),
    dict(shapes=[(2048,)], clipped=False),
    dict(shapes=[(1,), (1031,)], clipped=None),
    dict(shapes=[(1,)]),
    dict(shapes=[(64, 64), (64,)] * 3),
    dict(shapes=[(5000,), (3,), (257, 9)], clipped=False),
    dict(shapes=[(33, 129), (4097,)], uneven=True),
    dict(shapes=[(16, 16)] * 8 + [(19,)]),
    dict(shapes=[(3001,), (2, 3)], uneven=True),
]

_LLAMA_1B = [(3072, 2048), (2048, 2048), (16384, 2048), (2048, 8192), (2048,), (2048,)]
_LLAMA_8B = [(6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336), (4096,), (4096,)]
_QWEN_7B = [(4608, 3584), (4608,), (3584, 3584), (37888, 3584), (3584, 18944), (3584,), (3584,)]
_MAMBA = [(10240, 2560), (5120, 1, 4), (5120,), (192, 5120), (5120, 160), (5120,), (5120, 16), (5120,), (2560, 5120), (2560,)]  # fmt: skip
_EXPERT = [(28672, 4096), (4096, 14336)]

SIZES = [
    dict(shapes=_LLAMA_1B),
    dict(shapes=_MAMBA),
    dict(shapes=_LLAMA_8B),
    dict(shapes=_QWEN_7B),
    dict(shapes=_EXPERT * 2),
    dict(shapes=_EXPERT * 5, clipped=False),
]
WEIGHTS = [6.1, 4.2, 21.8, 23.3, 35.2, 44]

CONTRACT = Close()


def clip_grad_norm(grads, max_norm: float):
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in grads]))
    factor = (max_norm / (norm + 1e-6)).clamp(max=1)
    for g in grads:
        g.mul_(factor)
    return norm


def inputs(make, shapes, clipped=True, uneven=False):
    """`clipped`: whether the norm is beyond the limit, or None for one that is hardly so; `uneven`: tensors of different size."""
    grads = [make.floats(*shape) * (10.0**i if uneven else 1) for i, shape in enumerate(shapes)]
    norm = float(torch.stack([torch.linalg.vector_norm(g) for g in grads]).norm()) or 1.0
    return call(grads, norm * {True: 0.1, False: 3.0, None: 0.999}[clipped])


def positive_one_sum(grads, max_norm):
    """The sum of all squares, a block at a time, and a division."""
    parts = [part.square().sum() for g in grads for part in g.reshape(-1).split(512)]
    norm = torch.stack(parts).sum().sqrt()
    factor = torch.where(norm + 1e-6 > max_norm, max_norm / (norm + 1e-6), 1)
    for g in grads:
        g.copy_(g * factor)
    return norm


def _scale(grads, factor):
    for g in grads:
        g.mul_(factor)


def _norm(grads):
    return torch.cat([g.reshape(-1) for g in grads]).norm()


def negative_norm_of_each(grads, max_norm):
    """Clips each tensor by its own norm."""
    norm = _norm(grads)
    for g in grads:
        g.mul_((max_norm / (g.norm() + 1e-6)).clamp(max=1))
    return norm


def negative_norm_of_the_largest(grads, max_norm):
    norm = _norm(grads)
    _scale(grads, (max_norm / (torch.stack([g.norm() for g in grads]).amax() + 1e-6)).clamp(max=1))
    return norm


def negative_always_scaled(grads, max_norm):
    """Brings small gradients up to the limit, too."""
    norm = _norm(grads)
    _scale(grads, max_norm / (norm + 1e-6))
    return norm


def negative_returns_norm_after_clipping(grads, max_norm):
    norm = _norm(grads)
    factor = (max_norm / (norm + 1e-6)).clamp(max=1)
    _scale(grads, factor)
    return norm * factor


def negative_sum_of_norms(grads, max_norm):
    norm = torch.stack([g.norm() for g in grads]).sum()
    _scale(grads, (max_norm / (norm + 1e-6)).clamp(max=1))
    return norm


def negative_largest_magnitude(grads, max_norm):
    """The infinity norm."""
    norm = torch.stack([g.abs().amax() for g in grads]).amax()
    _scale(grads, (max_norm / (norm + 1e-6)).clamp(max=1))
    return norm


def negative_no_root(grads, max_norm):
    norm = _norm(grads).square()
    _scale(grads, (max_norm / (norm + 1e-6)).clamp(max=1))
    return norm


def negative_clipped_by_value(grads, max_norm):
    norm = _norm(grads)
    for g in grads:
        g.clamp_(-max_norm, max_norm)
    return norm


def negative_last_tensor_left_out(grads, max_norm):
    """Of the norm."""
    kept = grads[:-1] or grads
    norm = _norm(kept)
    _scale(grads, (max_norm / (norm + 1e-6)).clamp(max=1))
    return norm


def negative_squares_in_bfloat16(grads, max_norm):
    total = torch.zeros((), dtype=torch.bfloat16, device=grads[0].device)
    for g in grads:
        total += g.bfloat16().square().sum()
    norm = total.float().sqrt()
    _scale(grads, (max_norm / (norm + 1e-6)).clamp(max=1))
    return norm


def negative_nothing_written(grads, max_norm):
    return _norm(grads)
