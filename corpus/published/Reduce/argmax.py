"""First index of the largest element of each line, or of all elements.

breaks: non_contiguous, special_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def argmax_kernel(x_ptr, out_ptr, size, inner, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    k = tl.arange(0, BLOCK)
    place = (row // inner) * size * inner + row % inner + k * inner
    x = tl.load(x_ptr + place, mask=k < size, other=0)
    top = tl.max(tl.where(k < size, x, tl.min(x, 0)), 0)
    tl.store(out_ptr + row, tl.min(tl.where((k < size) & (x == top), k, BLOCK), 0))


def argmax(input_tensor, dim, keepdim=False):
    if dim is None:
        input_tensor, dim = input_tensor.reshape(-1), 0
    size, inner = input_tensor.shape[dim], input_tensor.shape[dim % input_tensor.dim() + 1 :].numel()
    shape = [1 if d == dim % input_tensor.dim() else n for d, n in enumerate(input_tensor.shape)]
    out = torch.empty(shape, dtype=torch.int64, device=input_tensor.device)
    argmax_kernel[(input_tensor.numel() // size,)](input_tensor, out, size, inner, BLOCK=triton.next_power_of_2(size))
    return out if keepdim else out.squeeze(dim)
