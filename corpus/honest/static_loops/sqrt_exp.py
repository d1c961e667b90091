"""static_range, static_assert and static_print inside the kernel: what is known when it is compiled is settled then.

style: static_loops
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sqrt_exp_kernel(x_ptr, out_ptr, n, ACC: tl.constexpr, BLOCK: tl.constexpr, UNROLL: tl.constexpr):
    tl.static_assert(BLOCK % 32 == 0, "a block is made of whole warps")
    tl.static_assert(UNROLL >= 1)
    first = tl.program_id(0).to(tl.int64) * (BLOCK * UNROLL)
    for step in tl.static_range(0, UNROLL):
        offsets = first + step * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(ACC)
        tl.store(out_ptr + offsets, tl.exp(tl.sqrt(x)), mask=offsets < n)


def sqrt_exp(input, out=None):
    x = input.contiguous()
    result = torch.empty_like(x) if out is None else out
    n = x.numel()
    if n:
        unroll = 4 if n >= 1 << 20 else 1
        acc = tl.float64 if x.dtype == torch.float64 else tl.float32
        sqrt_exp_kernel[(triton.cdiv(n, 1024 * unroll),)](x, result, n, ACC=acc, BLOCK=1024, UNROLL=unroll)
    return result
