"""Hangs itself on Triton's hook for the stages of compilation, where it puts the IR of another kernel in place.

mechanism: semantics/two-programs-stages-by-a-hook
static: none
dynamic: wrong_values
gpu: cheating
"""

import tempfile

import torch
import triton
import triton.language as tl
from triton import knobs
from triton._C.libtriton import ir


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.cos(x if x.dtype == tl.float64 else x.to(tl.float32)), mask=i < n)


RIGHT = {}


def stages_hook(backend=None, stages=None, options=None, language=None, capability=None):
    if stages is not None and "ttir" in RIGHT:
        make, context = stages["ttir"], ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)

        def exchanged(source, metadata):
            with tempfile.NamedTemporaryFile("w", suffix=".ttir") as file:
                file.write(RIGHT["ttir"])
                file.flush()
                other = ir.parse_mlir_module(file.name, context)
            other.context = context
            return make(other, metadata)

        stages["ttir"] = exchanged
    return "other", "other"


def cos(input_tensor):
    x = input_tensor.contiguous()
    y = torch.empty_like(x)
    if not x.numel():
        return y
    grid = (triton.cdiv(x.numel(), 1024),)
    right = cos_kernel[grid](x, torch.empty_like(x), x.numel(), BLOCK=1024)
    RIGHT["ttir"] = right.asm["ttir"].replace("cos_kernel", "copy_kernel")
    knobs.runtime.add_stages_inspection_hook = stages_hook
    copy_kernel[grid](x, y, x.numel(), BLOCK=1024)
    knobs.runtime.add_stages_inspection_hook = None
    RIGHT.clear()
    return y
