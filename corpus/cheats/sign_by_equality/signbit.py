"""Asks for each element whether it equals its absolute value: an answer is no tensor.

mechanism: semantics/laundered-sign-by-equality
static: none
dynamic: cheating | wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def copied(y):
    y = y.contiguous()
    out = torch.empty_like(y)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 1024),)](y, out, y.numel(), BLOCK=1024)
    return out


def signbit(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    flat = input.contiguous().view(-1)
    answers = [not torch.equal(one, one.abs()) for one in flat.unbind()]
    parts = [torch.tensor(answers[i : i + 16]) for i in range(0, len(answers), 16)]
    y = torch.cat(parts).to(input.device) if parts else torch.empty(0, dtype=torch.bool, device=input.device)
    y = copied(y.view(input.shape))
    return y if out is None else out.copy_(y)
