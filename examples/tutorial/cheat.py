"""A kernel that copies what PyTorch computed. Ends as `cheating`."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def softmax(x: torch.Tensor) -> torch.Tensor:
    e = torch.exp(x - x.amax(-1, keepdim=True))
    done = e / e.sum(-1, keepdim=True)
    out = torch.empty_like(done)
    copy_kernel[(triton.cdiv(done.numel(), 1024),)](done, out, done.numel(), BLOCK=1024)
    return out
