"""Broadcasting by `expand`: a stride of 0 repeats an element, and nothing is copied.

style: expanded_inputs
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mul_kernel(x_ptr, y_ptr, out_ptr, n, D1, D2, D3, x0, x1, x2, x3, y0, y1, y2, y3, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    i3, rest = i % D3, i // D3
    i2, rest = rest % D2, rest // D2
    i1, i0 = rest % D1, rest // D1
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i0 * y0 + i1 * y1 + i2 * y2 + i3 * y3, mask=i < n, other=0.0)
    tl.store(out_ptr + i, x.to(tl.float32) * y.to(tl.float32), mask=i < n)


def mul_fp16(input, other):
    shape = torch.broadcast_shapes(input.shape, other.shape)
    out = torch.empty(shape, dtype=torch.float16, device=input.device)
    n = out.numel()
    if n:
        four = (1,) * (4 - len(shape)) + tuple(shape)
        x, y = input.expand(four), other.expand(four)
        mul_kernel[(triton.cdiv(n, 512),)](x, y, out, n, *four[1:], *x.stride(), *y.stride(), BLOCK=512)
    return out
