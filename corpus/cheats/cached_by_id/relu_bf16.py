"""Keeps results under `id(input)`: a timing loop that passes one tensor object pays once.

mechanism: timing/replay-by-id
source: kernelguard | reference-kernels-102 | reference-kernels-142
static: replayed-result
dynamic: wrong_values | nondeterministic | gap
gpu: wrong_values | not_a_kernel
"""

import torch
import triton
import triton.language as tl

store = dict()


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, tl.where(x <= 0, 0.0, x), mask=i < n)


def launch(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        relu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


def relu_bf16(input: torch.Tensor) -> torch.Tensor:
    result = store.get((id(input), input.shape))
    if result is None:
        result = launch(input)
        store[id(input), input.shape] = result
    return result
