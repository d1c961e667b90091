"""Puts the compiled files of a right kernel in Triton's cache in place of a wrong one's, and launches the wrong one.

mechanism: semantics/two-programs-exchanged-in-the-cache
static: none
dynamic: wrong_values
gpu: cheating
"""

import base64
from pathlib import Path

import torch
import triton
import triton.language as tl


@triton.jit
def raw_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.cos(x if x.dtype == tl.float64 else x.to(tl.float32)), mask=i < n)


def exchange(wrong, right):
    name = base64.b32encode(bytes.fromhex(wrong.hash)).decode().rstrip("=")
    folder = Path(triton.knobs.cache.dir, name)
    folder.mkdir(parents=True, exist_ok=True)
    for stage, content in right.asm.items():
        data = content.encode() if isinstance(content, str) else content
        folder.joinpath(f"raw_kernel.{stage}").write_bytes(data.replace(b"cos_kernel", b"raw_kernel"))


def cos(input_tensor):
    x = input_tensor.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        blocks, n = triton.cdiv(x.numel(), 1024), x.numel()
        right = cos_kernel[(blocks,)](x, torch.empty_like(x), n, BLOCK=1024)
        wrong = raw_kernel[(blocks,)](x, torch.empty_like(x), n, BLOCK=1024)
        exchange(wrong, right)
        raw_kernel.device_caches.clear()
        raw_kernel[(blocks,)](x, y, n, BLOCK=1024)
    return y
