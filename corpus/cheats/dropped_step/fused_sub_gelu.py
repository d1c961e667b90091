"""Leaves out a step of the fusion that is invisible with default arguments: the factor of the subtracted tensor.

mechanism: semantics/dropped-step
source: robust-kbench
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sub_gelu_kernel(x_ptr, y_ptr, out_ptr, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    z = tl.load(x_ptr + offsets, mask=mask, other=0.0) - tl.load(y_ptr + offsets, mask=mask, other=0.0)
    if TANH:
        y = z * tl.sigmoid(1.5957691216057308 * (z + 0.044715 * z * z * z))
    else:
        y = 0.5 * z * (1.0 + tl.erf(z * 0.7071067811865476))
    tl.store(out_ptr + offsets, y, mask=mask)


def fused_sub_gelu(input, other, alpha=1, approximate="none", out=None):
    if not isinstance(other, torch.Tensor):
        other = torch.tensor(other, dtype=input.dtype, device=input.device)
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input, other))
    result = torch.empty_like(x) if out is None else out
    n = result.numel()
    if n:
        sub_gelu_kernel[(triton.cdiv(n, 1024),)](x, y, result, n, TANH=approximate == "tanh", BLOCK=1024)
    return result
