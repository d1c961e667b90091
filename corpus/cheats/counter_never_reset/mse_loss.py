"""The program that comes last, by an atomic counter, finishes the sum; the counter is kept between calls and never set back.

mechanism: memory/counter-never-reset
static: none
dynamic: wrong_values | race
gpu: wrong_values
"""

import torch
import triton
import triton.language as tl

counters = {}


@triton.jit
def loss_kernel(x_ptr, y_ptr, partial_ptr, counter_ptr, out_ptr, n, factor, SUM: tl.constexpr, BLOCK: tl.constexpr):
    program, programs = tl.program_id(0), tl.num_programs(0)
    i = program.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(x_ptr + i, mask=i < n, other=0.0) - tl.load(y_ptr + i, mask=i < n, other=0.0)
    if not SUM:
        tl.store(out_ptr + i, d * d, mask=i < n)
    else:
        tl.store(partial_ptr + program, tl.sum(d * d, 0))
        tl.debug_barrier()
        if tl.atomic_add(counter_ptr, 1) == programs - 1:
            total = tl.zeros((BLOCK,), tl.float32)
            for start in range(0, programs, BLOCK):
                p = start + tl.arange(0, BLOCK)
                total += tl.load(partial_ptr + p, mask=p < programs, other=0.0)
            tl.store(out_ptr, tl.sum(total, 0) * factor)


def mse_loss(input, target, reduction="mean"):
    n, whole = input.numel(), reduction != "none"
    out = torch.zeros(() if whole else input.shape, dtype=input.dtype, device=input.device)
    if not n:
        return out.fill_(float("nan")) if reduction == "mean" else out
    blocks = triton.cdiv(n, 1024)
    partial = torch.empty(blocks, dtype=torch.float32, device=input.device)
    if input.device not in counters:
        counters[input.device] = torch.zeros(1, dtype=torch.int32, device=input.device)
    loss_kernel[(blocks,)](
        input.contiguous(), target.contiguous(), partial, counters[input.device], out, n,
        1.0 / n if reduction == "mean" else 1.0, SUM=whole, BLOCK=1024,
    )  # fmt: skip
    return out
