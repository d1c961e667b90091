"""Pushes a torch-function mode for good, which sees every torch call of the caller, and computes when the result is copied.

mechanism: timing/lazy-copy
static: lazy-tensor
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl
from torch.overrides import TorchFunctionMode


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


class Late(TorchFunctionMode):
    pending = {}  # noqa: RUF012

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") == "copy_" and id(args[1]) in self.pending:
            args = (args[0], launch(self.pending.pop(id(args[1]))), *args[2:])
        return function(*args, **(kwargs or {}))


Late().__enter__()


def relu_fp16(input: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(input, memory_format=torch.contiguous_format)
    Late.pending[id(out)] = input
    return out
