"""One power for each element, in float64: the exponent of the millionth step needs more than float32 has.

`start`, the step and ln(base) come in a tensor, since numbers are passed to a kernel as float32.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def logspace_kernel(out_ptr, parameters_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    start = tl.load(parameters_ptr)
    step = tl.load(parameters_ptr + 1)
    log_base = tl.load(parameters_ptr + 2)
    power = tl.exp((start + at.to(tl.float64) * step) * log_base)
    tl.store(out_ptr + at, power.to(out_ptr.dtype.element_ty), mask=at < n)


def logspace(start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    out = torch.empty(steps, dtype=dtype or torch.float32, device=device)
    if steps:
        start, end = float(start), float(end)
        parameters = [start, (end - start) / max(1, steps - 1), math.log(base)]
        parameters = torch.tensor(parameters, dtype=torch.float64, device=out.device)
        logspace_kernel[(triton.cdiv(steps, 1024),)](out, parameters, steps, BLOCK=1024)
    return out
