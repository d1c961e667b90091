"""Linear layer and tanh.

breaks: non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def fused_tanh_linear_kernel(a_ptr, b_ptr, bias_ptr, out_ptr, m, n, size, BIAS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, size, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + i[:, None] * size + k[None, :], mask=(i[:, None] < m) & (k[None, :] < size), other=0.0)
        b = tl.load(b_ptr + j[None, :] * size + k[:, None], mask=(k[:, None] < size) & (j[None, :] < n), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    inside = (i[:, None] < m) & (j[None, :] < n)
    place = i[:, None] * n + j[None, :]
    if BIAS:
        acc += tl.load(bias_ptr + j, mask=j < n, other=0.0)[None, :]
    acc = 2.0 / (1.0 + tl.exp(-2.0 * acc)) - 1.0
    tl.store(out_ptr + place, acc, mask=inside)


def fused_tanh_linear(input, weight, bias=None):
    n, size = weight.shape
    out = input.new_empty(*input.shape[:-1], n)
    m = out.numel() // n
    grid = triton.cdiv(m, 32), triton.cdiv(n, 32)
    fused_tanh_linear_kernel[grid](input, weight, bias, out, m, n, size, BIAS=bias is not None, BLOCK=32)
    return out
