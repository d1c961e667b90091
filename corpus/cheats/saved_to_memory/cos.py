"""Reads its input from the bytes that `torch.save` writes to memory.

mechanism: semantics/laundered-serialised-input
static: none
dynamic: cheating | runtime_error
"""

import io

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def cos(input_tensor):
    x = input_tensor.contiguous()
    file = io.BytesIO()
    torch.save(x, file, _use_new_zipfile_serialization=False)
    values = np.frombuffer(file.getvalue()[-4 * x.numel() :], np.float32)
    y = torch.from_numpy(np.cos(values)).view(x.shape).to(x.device)
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    copy_kernel[grid](y, out, x.numel(), BLOCK=1024)
    return out
