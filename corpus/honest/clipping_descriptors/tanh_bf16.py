"""Tensor descriptors of the true length: what a block has beyond it is not read and not written.

style: clipping_descriptors
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tanh_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, shape=[n], strides=[1], block_shape=[BLOCK])
    target = tl.make_tensor_descriptor(out_ptr, shape=[n], strides=[1], block_shape=[BLOCK])
    first = tl.program_id(0) * BLOCK
    x = source.load([first]).to(tl.float32)
    target.store([first], (2.0 * tl.sigmoid(2.0 * x) - 1.0).to(tl.bfloat16))


def scratch(size, alignment, stream):
    """Where descriptors made in a kernel live; Triton asks for it at each launch."""
    return torch.empty(size, dtype=torch.int8, device="cuda")


def tanh_bf16(input):
    x = input.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        triton.set_allocator(scratch)
        tanh_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out
