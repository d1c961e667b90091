"""Returns a tensor subclass that computes when somebody looks at it, which is after the clock has stopped.

mechanism: timing/lazy-tensor
source: kernelbench-static-checker | sol-execbench | deepreinforce | wafer | reference-kernels-162
static: lazy-tensor
dynamic: wrong_structure
"""

import torch
import triton
import triton.language as tl


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


class Lazy(torch.Tensor):
    """Looks like its result; the kernel runs in the first function that takes it as an argument."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") not in ("copy_", "clone", "contiguous", "to"):
            return super().__torch_function__(function, types, args, kwargs or {})
        real = [launch(a.source) if isinstance(a, Lazy) else a for a in args]
        return function(*real, **(kwargs or {}))


def relu_bf16(input: torch.Tensor) -> torch.Tensor:
    result = torch.Tensor._make_subclass(Lazy, torch.empty_like(input))
    result.source = input
    return result
