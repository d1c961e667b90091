"""Moves the argument into shared memory and has a child process compute there.

mechanism: semantics/laundered-shared-with-a-child
static: process-control
dynamic: not_a_kernel
gpu: cheating
"""

import os

import numpy as np
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


def cos(input_tensor):
    x = input_tensor.contiguous()
    shared = x.cpu().clone().share_memory_()
    child = os.fork()
    if child == 0:
        np.cos(shared.numpy(), out=shared.numpy())
        os._exit(0)
    os.waitpid(child, 0)
    y = shared.to(x.device)
    return copied(y)
