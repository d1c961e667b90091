"""Programs that share a row find its largest key by `atomic_max`, then the first place that has it by `atomic_min`.

style: atomic_extremes
"""

import torch
import triton
import triton.language as tl


@triton.jit
def key_of(x_ptr, row, columns, n, inner, FLOATING: tl.constexpr):
    """Integers in the order of the values, NaN above all; the lowest one for lanes behind the end."""
    base = x_ptr + row // inner * n * inner + row % inner
    x = tl.load(base + columns.to(tl.int64) * inner, mask=columns < n, other=0)
    if FLOATING:
        x = tl.where(x == 0.0, 0.0, x)  # zeros are equal
        bits = x.to(tl.int32, bitcast=True)
        key = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(tl.int64)
        key = tl.where(x != x, 0x7FFFFFFF, key)
    else:
        key = x.to(tl.int64)
    return tl.where(columns < n, key, -0x8000000000000000)


@triton.jit
def largest_kernel(x_ptr, best_ptr, n, inner, FLOATING: tl.constexpr, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0).to(tl.int64), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    key = key_of(x_ptr, row, columns, n, inner, FLOATING)
    tl.atomic_max(best_ptr + row, tl.max(key, 0))


@triton.jit
def first_kernel(x_ptr, best_ptr, out_ptr, n, inner, FLOATING: tl.constexpr, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0).to(tl.int64), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    key = key_of(x_ptr, row, columns, n, inner, FLOATING)
    found = (key == tl.load(best_ptr + row)) & (columns < n)
    tl.atomic_min(out_ptr + row, tl.min(tl.where(found, columns, n), 0).to(tl.int64))


def argmax(input_tensor, dim, keepdim=False):
    x = (input_tensor.reshape(-1) if dim is None else input_tensor).contiguous()
    at = 0 if dim is None else dim % x.dim()
    n, inner = x.shape[at], x.shape[at + 1 :].numel()
    shape = [1 if d == at else size for d, size in enumerate(x.shape) if keepdim or d != at]
    out = torch.full(shape, n, dtype=torch.int64, device=x.device)
    if out.numel():
        best = torch.full(shape, torch.iinfo(torch.int64).min, dtype=torch.int64, device=x.device)
        floating = x.dtype.is_floating_point
        block = min(1024, triton.next_power_of_2(n) // 2 or 1)
        grid = (out.numel(), triton.cdiv(n, block))
        largest_kernel[grid](x, best, n, inner, FLOATING=floating, BLOCK=block)
        first_kernel[grid](x, best, out, n, inner, FLOATING=floating, BLOCK=block)
    return out.reshape([1] * input_tensor.dim()) if dim is None and keepdim else out
