"""Keeps results in a closure and hands them out whenever a shape comes again.

mechanism: timing/replay-by-shape
static: replayed-result
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sigmoid_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, 1.0 / (1.0 + tl.exp(-x.to(tl.float32))), mask=i < n)


def launch(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        sigmoid_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


def remembering(compute):
    kept = []

    def call(input):
        for result in kept:
            if result.shape == input.shape:
                return result
        kept.append(compute(input))
        return kept[-1]

    return call


sigmoid_fp16 = remembering(launch)
