"""Launches under the tensor's own device, on the stream that is current there, as library code does.

style: device_guard
"""

import contextlib

import torch
import triton
import triton.language as tl


@triton.jit
def log_kernel(x_ptr, out_ptr, n, ACC: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=1.0).to(ACC)
    tl.store(out_ptr + offsets, tl.log(x), mask=mask)


def on_device_of(tensor):
    return torch.cuda.device(tensor.device) if tensor.is_cuda else contextlib.nullcontext()


def log(input, out=None):
    if input.device.type not in ("cuda", "cpu"):
        raise NotImplementedError(f"no kernel for {input.device}")
    x = input.contiguous()
    result = torch.empty_like(x) if out is None else out
    if x.numel() == 0:
        return result
    with on_device_of(x):
        if x.is_cuda:
            # the copy above may be the allocator's to reuse: tell it who still reads it
            x.record_stream(torch.cuda.current_stream())
        acc = tl.float64 if x.dtype == torch.float64 else tl.float32
        log_kernel[(triton.cdiv(x.numel(), 1024),)](x, result, x.numel(), ACC=acc, BLOCK=1024)
    return result
