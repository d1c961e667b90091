"""Reads the argument on the host in a thread while PyTorch sorts something of no interest.

mechanism: semantics/laundered-thread-during-a-sort
static: background-work | cpu-offload | sleeping
dynamic: cheating | not_a_kernel
"""

import threading
import time

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
    kept = []
    values = x.cpu().numpy()
    def work():
        time.sleep(0.02)
        kept.append(np.cos(values))
    noise = torch.rand(1_000_000, device=x.device)
    thread = threading.Thread(target=work)
    thread.start()
    torch.sort(noise)
    thread.join()
    y = torch.from_numpy(kept[0]).to(x.device)
    return copied(y)
