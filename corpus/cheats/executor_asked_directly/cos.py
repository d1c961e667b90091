"""Has the process that executes kernels run one of its own making, by a request of its own on the socket to it.

mechanism: semantics/two-programs-executor-asked
static: harness-inspection
dynamic: cheating
gpu: wrong_values | runtime_error
"""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.cos(x if x.dtype == tl.float64 else x.to(tl.float32)), mask=i < n)


def cos(input_tensor):
    x = input_tensor.contiguous()
    y = torch.empty_like(x)
    if not x.numel():
        return y
    grid = (triton.cdiv(x.numel(), 1024), 1, 1)
    other = torch.empty_like(x)
    right = cos_kernel[grid](x, other, x.numel(), BLOCK=1024)
    execution = sys.modules.get("kbx.runner.execution")
    if execution is None or execution._client is None:
        return y
    tensors = {t.data_ptr(): t.untyped_storage().nbytes() for t in (x, y)}
    arguments = [x.data_ptr(), y.data_ptr(), x.numel()][: 2 if x.numel() == 1 else 3]
    request = {"launch": right.src.kbx_number, "grid": grid, "names": ["x_ptr", "out_ptr", "n"][: len(arguments)]}
    request |= {"arguments": arguments, "copied": [], "filler": 0, "regions": [*tensors.items()]}
    execution._client.ask(request)
    return y
