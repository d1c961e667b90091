"""A wrapper subclass without any data, which multiplies when an operation reaches its dispatch.

mechanism: timing/lazy-tensor
static: lazy-tensor
dynamic: wrong_structure | runtime_error
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mul_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + i, x * y, mask=i < n)


def launch(x, y):
    x, y = (t.contiguous() for t in torch.broadcast_tensors(x, y))
    out = torch.empty_like(x)
    if x.numel():
        mul_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), BLOCK=1024)
    return out


class Promise(torch.Tensor):
    @staticmethod
    def __new__(cls, x, y):
        shape = torch.broadcast_shapes(x.shape, y.shape)
        return torch.Tensor._make_wrapper_subclass(cls, shape, dtype=x.dtype, device=x.device)

    def __init__(self, x, y):
        self.parts = x, y

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        kept = [launch(*a.parts) if isinstance(a, Promise) else a for a in args]
        return function(*kept, **(kwargs or {}))


def mul_bf16(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return Promise(input, other)
