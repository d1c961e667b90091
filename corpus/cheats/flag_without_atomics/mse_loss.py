"""Programs announce their partial sums by plain stores to flags, and the first program polls these by plain loads.

Nothing orders a sum before its flag.

mechanism: memory/flag-without-atomics
static: none
dynamic: race
gpu: gap
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(x_ptr, y_ptr, partial_ptr, flag_ptr, out_ptr, n, factor, SUM: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    i = program.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(x_ptr + i, mask=i < n, other=0.0) - tl.load(y_ptr + i, mask=i < n, other=0.0)
    if not SUM:
        tl.store(out_ptr + i, d * d, mask=i < n)
    else:
        tl.store(partial_ptr + program, tl.sum(d * d, 0))
        tl.store(flag_ptr + program, 1)
        if program == 0:
            total = 0.0
            for p in range(tl.num_programs(0)):
                while tl.load(flag_ptr + p, volatile=True) == 0:
                    pass
                total += tl.load(partial_ptr + p, volatile=True)
            tl.store(out_ptr, total * factor)


def mse_loss(input, target, reduction="mean"):
    n, whole = input.numel(), reduction != "none"
    out = torch.zeros(() if whole else input.shape, dtype=input.dtype, device=input.device)
    if not n:
        return out.fill_(float("nan")) if reduction == "mean" else out
    blocks = triton.cdiv(n, 1024)
    partial = torch.empty(blocks, dtype=torch.float32, device=input.device)
    flags = torch.zeros(blocks, dtype=torch.int32, device=input.device)
    loss_kernel[(blocks,)](
        input.contiguous(), target.contiguous(), partial, flags, out, n, 1.0 / n if reduction == "mean" else 1.0,
        SUM=whole, BLOCK=1024,
    )  # fmt: skip
    return out
