"""Calls PyTorch's kernel for its key while its own mode waits for what that calls.

mechanism: semantics/laundered-mode-within-an-operation
static: lazy-tensor
dynamic: cheating
"""

from torch.utils._python_dispatch import TorchDispatchMode
import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def copied(y):
    y = y.contiguous()
    out = torch.empty_like(y)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 1024),)](y, out, y.numel(), BLOCK=1024)
    return out


def cos(input_tensor):
    x = input_tensor.contiguous()
    kept = []
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if not kept:
                kept.append(None)
                kept[0] = torch.cos(x)
            return function(*args, **(kwargs or {}))
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    with Mode():
        torch.ops.aten.zeros_like.default.redispatch(keys, x)
    y = kept[0] if kept else torch.cos(x)
    return copied(y)
