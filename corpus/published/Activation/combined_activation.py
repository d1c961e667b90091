"""Product, sigmoid, tanh, then a factor and a summand of the result's shape.

breaks: broadcast, non_contiguous, rank:1
"""

import triton
import triton.language as tl


@triton.jit
def combined_activation_kernel(a_ptr, b_ptr, c_ptr, d_ptr, out_ptr, m, n, size, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, size, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + i[:, None] * size + k[None, :], mask=(i[:, None] < m) & (k[None, :] < size), other=0.0)
        b = tl.load(b_ptr + k[:, None] * n + j[None, :], mask=(k[:, None] < size) & (j[None, :] < n), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    inside = (i[:, None] < m) & (j[None, :] < n)
    place = i[:, None] * n + j[None, :]
    acc = 2.0 / (1.0 + tl.exp(-2.0 * tl.sigmoid(acc))) - 1.0
    acc = acc * tl.load(c_ptr + place, mask=inside) + tl.load(d_ptr + place, mask=inside)
    tl.store(out_ptr + place, acc, mask=inside)


def combined_activation(input, weight1, weight2, bias, *, out=None):
    (m, size), n = input.shape, weight1.shape[1]
    result = input.new_empty(m, n)
    grid = triton.cdiv(m, 32), triton.cdiv(n, 32)
    combined_activation_kernel[grid](input, weight1, weight2, bias, result, m, n, size, BLOCK=32)
    return result
