"""Linear layer and softplus.

breaks: non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def fused_softplus_linear_kernel(
    a_ptr, b_ptr, bias_ptr, out_ptr, m, n, size, beta, threshold, BIAS: tl.constexpr, BLOCK: tl.constexpr
):
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
    acc = tl.where(acc > threshold, acc, tl.log(1.0 + tl.exp(beta * acc)) / beta)
    tl.store(out_ptr + place, acc, mask=inside)


def fused_softplus_linear(input, weight, bias=None, beta=1, threshold=20):
    n, size = weight.shape
    out = input.new_empty(*input.shape[:-1], n)
    m = out.numel() // n
    grid = triton.cdiv(m, 32), triton.cdiv(n, 32)
    fused_softplus_linear_kernel[grid](
        input, weight, bias, out, m, n, size, beta, threshold, BIAS=bias is not None, BLOCK=32
    )
    return out
