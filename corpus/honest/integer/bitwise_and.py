"""Integers and booleans, with broadcasting, scalars, type promotion and `out=`.

style: integer
"""

import torch
import triton
import triton.language as tl


@triton.jit
def and_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x & y, mask=mask)


def raw(tensor):
    """Booleans as the bytes they are stored in."""
    return tensor.view(torch.uint8) if tensor.dtype == torch.bool else tensor


def bitwise_and(input, other, out=None):
    device = input.device if isinstance(input, torch.Tensor) else other.device
    dtype = torch.result_type(input, other)
    x, y = (t if isinstance(t, torch.Tensor) else torch.tensor(t, dtype=dtype, device=device) for t in (input, other))
    x, y = (t.to(dtype).contiguous() for t in torch.broadcast_tensors(x, y))
    result = torch.empty(x.shape, dtype=dtype, device=device)
    n = result.numel()
    if n:
        and_kernel[(triton.cdiv(n, 1024),)](raw(x), raw(y), raw(result), n, BLOCK=1024)
    return result if out is None else out.resize_(result.shape).copy_(result)
