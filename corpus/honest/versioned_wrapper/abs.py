"""A class around its autotuned kernel that looks at versions and devices before it launches.

style: versioned_wrapper
"""

import torch
import triton
import triton.language as tl

VERSION = tuple(int(part) for part in triton.__version__.split(".")[:2])


@triton.autotune(configs=[triton.Config({"BLOCK": size}, num_warps=4) for size in (512, 1024)], key=["n"])
@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.abs(tl.load(x_ptr + i, mask=i < n)), mask=i < n)


class Abs:
    def __init__(self):
        self.wide = VERSION >= (3, 0)

    def __call__(self, x, out):
        def grid(meta):
            return (triton.cdiv(x.numel(), meta["BLOCK"]),)

        if x.numel():
            abs_kernel[grid](x, out, x.numel())
        return out


run = Abs()


def abs(input_tensor, out=None):
    x = input_tensor.contiguous()
    result = run(x, torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device))
    return result if out is None else out.copy_(result)
