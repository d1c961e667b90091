"""A kernel that spins on a flag nobody sets. The device must serve the next candidate.

mechanism: verdict/endless-kernel
static: none
dynamic: runtime_error
gpu: timeout
"""

import torch
import triton
import triton.language as tl


@triton.jit
def spin_kernel(flag_ptr, out_ptr):
    rounds = 0
    while tl.load(flag_ptr, volatile=True) == 0:
        rounds += 1
    tl.store(out_ptr, rounds)


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    flag = torch.zeros(1, dtype=torch.int32, device=input.device)
    rounds = torch.empty(1, dtype=torch.int32, device=input.device)
    spin_kernel[(1,)](flag, rounds)
    return torch.zeros_like(input) * rounds.item()
