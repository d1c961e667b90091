"""Programs that talk to themselves through scratch memory, with debug_barrier between writing and reading it.

style: barriers
"""

import torch
import triton
import triton.language as tl


@triton.jit
def min_kernel(x_ptr, scratch_ptr, value_ptr, index_ptr, n, inner, LARGEST: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    base = x_ptr + row // inner * n * inner + row % inner
    lane = tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), LARGEST, x_ptr.dtype.element_ty)
    at = tl.full((BLOCK,), n, tl.int64)
    for start in range(0, n, BLOCK):
        k = start + lane
        x = tl.load(base + k.to(tl.int64) * inner, mask=k < n, other=LARGEST)
        # NaN is smaller than all, and the first of them counts; so does the first of equals, seen before by its lane
        better = (k < n) & (best == best) & ((x < best) | (x != x) | (at == n))
        best, at = tl.where(better, x, best), tl.where(better, k, at)
    tl.store(scratch_ptr + row * BLOCK + lane, best)
    tl.debug_barrier()
    best = tl.load(scratch_ptr + row * BLOCK + lane)
    nan_at = tl.min(tl.where((best != best) & (at < n), at, n), 0)
    lowest = tl.min(tl.where((best == best) & (at < n), best, LARGEST), 0)
    first = tl.min(tl.where((best == lowest) & (at < n), at, n), 0)
    place = tl.where(nan_at < n, nan_at, first)
    tl.store(index_ptr + row, place)
    tl.store(value_ptr + row, tl.load(base + place * inner))


def min(input_tensor, dim, keepdim=False):
    x = input_tensor.contiguous()
    dim %= x.dim()
    n, inner = x.shape[dim], x.shape[dim + 1 :].numel()
    shape = [1 if d == dim else s for d, s in enumerate(x.shape) if keepdim or d != dim]
    values = torch.empty(shape, dtype=x.dtype, device=x.device)
    indices = torch.empty(shape, dtype=torch.int64, device=x.device)
    if values.numel():
        block = triton.next_power_of_2(n if n < 256 else 256)
        scratch = torch.empty(values.numel() * block, dtype=x.dtype, device=x.device)
        largest = float("inf") if x.dtype.is_floating_point else torch.iinfo(x.dtype).max
        min_kernel[(values.numel(),)](x, scratch, values, indices, n, inner, LARGEST=largest, BLOCK=block)
    return values, indices
