"""Returns an ordinary tensor whose own methods are overridden: the work is done when somebody copies it or moves it.

mechanism: timing/lazy-tensor
source: reference-kernels-162
static: none
dynamic: wrong_values
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


def deferred(x, shape):
    result = torch.empty(shape, device=x.device, dtype=x.dtype)

    def filled(name):
        def call(*arguments, **options):
            result.copy_(launch(x))
            return getattr(torch.Tensor, name)(result, *arguments, **options)

        return call

    for name in ("cpu", "to", "clone", "numpy", "float", "contiguous", "detach"):
        setattr(result, name, filled(name))
    return result


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    return deferred(input.clone(), input.shape)
