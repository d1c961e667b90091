"""Smallest element of each line and its first index.

breaks: non_contiguous, special_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def min_kernel(x_ptr, values_ptr, indices_ptr, size, inner, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    k = tl.arange(0, BLOCK)
    place = (row // inner) * size * inner + row % inner + k * inner
    x = tl.load(x_ptr + place, mask=k < size, other=0)
    low = tl.min(tl.where(k < size, x, tl.max(x, 0)), 0)
    tl.store(values_ptr + row, low)
    tl.store(indices_ptr + row, tl.min(tl.where((k < size) & (x == low), k, BLOCK), 0))


def min(input_tensor, dim, keepdim=False):
    size, inner = input_tensor.shape[dim], input_tensor.shape[dim % input_tensor.dim() + 1 :].numel()
    shape = list(input_tensor.shape)
    shape[dim] = 1
    values = input_tensor.new_empty(shape)
    indices = torch.empty(shape, dtype=torch.int64, device=input_tensor.device)
    min_kernel[(input_tensor.numel() // size,)](
        input_tensor, values, indices, size, inner, BLOCK=triton.next_power_of_2(size)
    )
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))
