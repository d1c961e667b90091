"""Online softmax: one pass finds a row's maximum and its sum together, a second one writes. Rows may be of any length.

style: module_online
"""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def softmax_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    lanes = tl.arange(0, BLOCK)
    # a maximum and a sum in every lane; one reduction at the end
    largest = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        place = start + lanes
        x = tl.load(x_ptr + row + place, mask=place < columns, other=-float("inf"))
        new = tl.maximum(largest, x)
        # a lane that has seen nothing has no difference to take
        total = total * tl.where(new == largest, 1.0, tl.exp(largest - new)) + tl.where(
            place < columns, tl.exp(x - new), 0.0
        )
        largest = new
    top = tl.max(largest, 0)
    whole = tl.sum(tl.where(total > 0, total * tl.exp(largest - top), 0.0), 0)
    for start in range(0, columns, BLOCK):
        place = start + lanes
        x = tl.load(x_ptr + row + place, mask=place < columns)
        tl.store(y_ptr + row + place, tl.exp(x - top) / whole, mask=place < columns)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        softmax_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=2048, num_warps=8)
        return y
