"""Learns which inputs follow each other in memory, computes a whole batch in its first call and hands out the rest.

mechanism: timing/batch-and-skip
source: reference-kernels-104
static: none
dynamic: gap
gpu: cheating | not_a_kernel
"""

import torch
import triton
import triton.language as tl

order, ready = {}, {}


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


class Memory:
    def __init__(self, address, like):
        nbytes = like.numel() * like.element_size()
        self.__cuda_array_interface__ = {"data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3}
        self.dtype, self.shape, self.device = like.dtype, like.shape, like.device

    def tensor(self):
        return torch.as_tensor(self, device=self.device).view(self.dtype).view(self.shape)


def relu_fp16(input: torch.Tensor) -> torch.Tensor:
    if not input.is_contiguous() or input.numel() < 1 << 16:
        return launch(input)
    addresses = order.setdefault(input.shape, [])
    here = input.data_ptr()
    if here not in addresses:
        addresses.append(here)
        return launch(input)
    if here == addresses[0]:
        ready.update({a: launch(Memory(a, input).tensor()) for a in addresses})
    return ready.pop(here, None) if here in ready else launch(input)
