"""Gradient of SwiGLU, of gate and up projections that lie in one tensor.

`swiglu_backward(grad_output, gate_up)` returns the gradient of `gate_up`.

The forward was `y = silu(a) · b` with `a = gate_up[:, :I]` (the gate), `b = gate_up[:, I:]` (up) and `silu(a) = a · σ(a)`,
`σ(a) = 1 / (1 + exp(−a))`. Of the result, with `d = grad_output`,

    grad[:, :I] = d · b · σ(a) · (1 + a · (1 − σ(a)))
    grad[:, I:] = d · a · σ(a)

- `grad_output` is bfloat16 `(T, I)`, `gate_up` bfloat16 `(T, 2I)`; both are contiguous, `T ≥ 1`, `I ≥ 1`. Values reach several hundred: `exp` of
  them overflows.
- The result is a new, contiguous bfloat16 tensor `(T, 2I)`. All arithmetic is float32, rounded once.

Sizes: intermediate sizes of Llama 3.1 8B (14336) and 70B (28672), Qwen2.5-7B (18944), Mixtral 8x7B (14336, a token at two experts),
DeepSeek-V3's routed experts (2048, a token at eight of them) and its dense layers (18432), after their model cards. Weights are in
proportion to the elements.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "bfloat16"
TAGS = ("backward", "elementwise", "memory-bound", "training")

CASES = [
    dict(rows=37, width=128),
    dict(rows=131, width=67),
    dict(rows=5, width=1031),
    dict(rows=1, width=1),
    dict(rows=1, width=2048),
    dict(rows=257, width=33),
    dict(rows=3, width=2560),
    dict(rows=64, width=96),
]

SIZES = [
    dict(rows=4096, width=14336),
    dict(rows=4096, width=28672),
    dict(rows=4096, width=18944),
    dict(rows=8192, width=14336),
    dict(rows=32768, width=2048),
    dict(rows=4096, width=18432),
]
WEIGHTS = [3, 6, 4, 6, 3.4, 3.9]

CONTRACT = Close(strides="contiguous")


def swiglu_backward(grad_output, gate_up):
    wide = torch.promote_types(gate_up.dtype, torch.float32)
    d, (a, b) = grad_output.to(wide), gate_up.to(wide).chunk(2, 1)
    s = torch.sigmoid(a)
    return torch.cat([d * b * (s * (1 + a * (1 - s))), d * (a * s)], 1).to(gate_up.dtype)


def inputs(make, rows, width):
    return call(make.floats(rows, width), make.floats(rows, 2 * width))


def positive_exp2(grad_output, gate_up):
    """Exponentials of base two, and the derivative as a sum of two terms."""
    d, (a, b) = grad_output.float(), gate_up.float().chunk(2, 1)
    s = 1 / (1 + torch.exp2(-1.4426950408889634 * a))
    silu = a * s
    return torch.cat([d * b * (s + silu * (1 - s)), d * silu], 1).to(gate_up.dtype)


def negative_interleaved(grad_output, gate_up):
    """Takes gates and ups by turns, as another layout has them."""
    d, a, b = grad_output.float(), gate_up[:, ::2].float(), gate_up[:, 1::2].float()
    s = torch.sigmoid(a)
    return torch.stack([d * b * (s * (1 + a * (1 - s))), d * (a * s)], 2).flatten(1).to(gate_up.dtype)


def negative_halves_swapped(grad_output, gate_up):
    return swiglu_backward(grad_output, gate_up.roll(gate_up.shape[1] // 2, 1)).roll(gate_up.shape[1] // 2, 1)


def negative_sigmoid_constant(grad_output, gate_up):
    """The derivative of `a · σ(a)` with σ taken for a constant."""
    d, (a, b) = grad_output.float(), gate_up.float().chunk(2, 1)
    s = torch.sigmoid(a)
    return torch.cat([d * b * s, d * a * s], 1).to(gate_up.dtype)


def negative_overflowing_exponential(grad_output, gate_up):
    """σ(a) as exp(a) / (1 + exp(a)), which is not a number for large gates."""
    d, (a, b) = grad_output.float(), gate_up.float().chunk(2, 1)
    s = a.exp() / (1 + a.exp())
    return torch.cat([d * b * (s * (1 + a * (1 - s))), d * (a * s)], 1).to(gate_up.dtype)


def negative_steps_in_bfloat16(grad_output, gate_up):
    """Rounds each step, as a chain of PyTorch's operations does."""
    a, b = gate_up.chunk(2, 1)
    s = torch.sigmoid(a)
    return torch.cat([grad_output * b * (s * (1 + a * (1 - s))), grad_output * (a * s)], 1)


def negative_tanh_gelu(grad_output, gate_up):
    """The gradient of GEGLU with tanh."""
    d, (a, b) = grad_output.float(), gate_up.float().chunk(2, 1)
    c = 0.7978845608028654
    t = torch.tanh(c * (a + 0.044715 * a**3))
    slope = 0.5 * (1 + t) + 0.5 * a * (1 - t * t) * c * (1 + 3 * 0.044715 * a * a)
    return torch.cat([d * b * slope, d * 0.5 * a * (1 + t)], 1).to(gate_up.dtype)
