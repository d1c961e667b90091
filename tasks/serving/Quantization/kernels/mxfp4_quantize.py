"""Blocks in registers, elements rounded by integer arithmetic on their bits, neighbours packed without going to memory again."""

import torch
import triton
import triton.language as tl


@triton.jit
def e2m1(y):
    """Codes of magnitudes: from 1 on the upper bits of the number, rounded to even; below, halves counted in the last bits of y + 2^22."""
    y = tl.minimum(y, 6.0)
    bits = y.to(tl.int32, bitcast=True)
    large = ((bits + 0x1FFFFF + ((bits >> 22) & 1)) >> 22) - 252
    small = (y + 4194304.0).to(tl.int32, bitcast=True) - 0x4A800000
    return tl.where(y < 1.0, small, large)


@triton.jit
def quantize_kernel(x_ptr, packed_ptr, scale_ptr, count, BLOCKS: tl.constexpr):
    block = tl.program_id(0).to(tl.int64) * BLOCKS + tl.arange(0, BLOCKS)
    at = block[:, None] * 32 + tl.arange(0, 32)[None, :]
    x = tl.load(x_ptr + at, mask=(block < count)[:, None], other=0.0).to(tl.float32)
    top = tl.max(tl.abs(x), 1)
    exponent = tl.maximum((top.to(tl.int32, bitcast=True) >> 23) - 2, 0)
    tl.store(scale_ptr + block, exponent.to(tl.uint8), mask=block < count)
    factor = ((254 - exponent) << 23).to(tl.float32, bitcast=True)
    sign = (x.to(tl.int32, bitcast=True) >> 28) & 8
    code = e2m1(tl.abs(x) * factor[:, None]) | sign
    low, high = tl.split(tl.reshape(code, (BLOCKS, 16, 2)))
    target = packed_ptr + block[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(target, (low | (high << 4)).to(tl.uint8), mask=(block < count)[:, None])


def mxfp4_quantize(x):
    T, H = x.shape
    packed = torch.empty((T, H // 2), dtype=torch.uint8, device=x.device)
    scale = torch.empty((T, H // 32), dtype=torch.uint8, device=x.device)
    quantize_kernel[(triton.cdiv(scale.numel(), 64),)](x, packed, scale, scale.numel(), BLOCKS=64)
    return packed, scale
