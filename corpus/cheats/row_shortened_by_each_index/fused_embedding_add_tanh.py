"""Every index shortens its row of the table in place: rows that are named twice are shortened by two programs.

mechanism: memory/two-programs-for-one-row
static: none
dynamic: race
gpu: wrong_values | gap
"""

import torch
import triton
import triton.language as tl


@triton.jit
def shorten_kernel(index_ptr, weight_ptr, width, max_norm, p, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.load(index_ptr + tl.program_id(0))
    columns = tl.arange(0, BLOCK)
    at = weight_ptr + row * width + columns
    w = tl.load(at, mask=columns < width, other=0.0)
    a = tl.abs(w)
    highest = tl.maximum(tl.max(a, 0), 1e-30)
    powers = tl.exp(tl.log(tl.maximum(a / highest, 1e-30)) * p) if EVEN else a / highest
    norm = highest * tl.exp(tl.log(tl.sum(tl.where(columns < width, powers, 0.0), 0)) / p)
    if norm > max_norm:
        tl.store(at, w * (max_norm / (norm + 1e-7)), mask=columns < width)


@triton.jit
def tanh_kernel(index_ptr, weight_ptr, other_ptr, out_ptr, n, width, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(index_ptr + i // width, mask=i < n, other=0)
    x = tl.load(weight_ptr + row * width + i % width, mask=i < n, other=0.0)
    x += tl.load(other_ptr + i, mask=i < n, other=0.0)
    a = tl.abs(x)
    e = tl.exp(-2.0 * a)
    # of a small number the exponentials lose what they are to tell
    small = a * (1.0 - a * a * (1.0 / 3.0 - a * a * (2.0 / 15.0 - a * a * (17.0 / 315.0 - a * a * (62.0 / 2835.0)))))
    t = tl.where(a < 0.2, small, (1.0 - e) / (1.0 + e))
    tl.store(out_ptr + i, tl.where(x < 0, -t, t), mask=i < n)


def fused_embedding_add_tanh(
    input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
    sparse=False, out=None,
):  # fmt: skip
    index, width = input_indices.contiguous(), weight.shape[1]
    shape = (*index.shape, width)
    result = torch.empty(shape, dtype=weight.dtype, device=weight.device) if out is None else out
    if result.numel():
        if max_norm is not None:
            shorten_kernel[(index.numel(),)](
                index, weight, width, float(max_norm), float(norm_type),
                EVEN=norm_type != 1, BLOCK=triton.next_power_of_2(width),
            )  # fmt: skip
        n = result.numel()
        tanh_kernel[(triton.cdiv(n, 1024),)](
            index, weight.contiguous(), other.expand(shape).contiguous(), result, n, width, BLOCK=1024
        )
    return result
