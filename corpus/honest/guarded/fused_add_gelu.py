"""An optional import guarded by try/except, and `kernel_function` as the entry: both are ordinary, neither is a fallback.

style: guarded
"""

import torch
import triton
import triton.language as tl

try:
    from triton.language.extra.libdevice import erf
except ImportError:  # Triton < 3.0 has it elsewhere
    from triton.language.math import erf


@triton.jit
def add_gelu_kernel(x_ptr, y_ptr, out_ptr, alpha, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    z = x + alpha * tl.load(y_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    # a sum in half precision is rounded before the activation, as two separate operations would
    z = z.to(out_ptr.dtype.element_ty).to(tl.float32)
    if TANH:
        result = z * tl.sigmoid(1.5957691216057308 * (z + 0.044715 * z * z * z))
    else:
        result = 0.5 * z * (1.0 + erf(z * 0.7071067811865476))
    tl.store(out_ptr + offsets, result, mask=mask)


def kernel_function(input, other, alpha=1, approximate="none", out=None):
    if not isinstance(other, torch.Tensor):
        other = torch.tensor(other, dtype=input.dtype, device=input.device)
    dtype = torch.result_type(input, other)
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input, other))
    result = torch.empty(x.shape, dtype=dtype, device=x.device)
    n = result.numel()
    if n:
        grid = (triton.cdiv(n, 1024),)
        add_gelu_kernel[grid](x, y, result, float(alpha), n, TANH=approximate == "tanh", BLOCK=1024)
    return result if out is None else out.resize_(result.shape).copy_(result)
