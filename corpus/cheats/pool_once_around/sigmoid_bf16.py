"""Takes all 32 streams of torch's pool, which leaves no trace in the pool, and works on one of them ahead of the caller's.

mechanism: timing/side-stream
static: none
dynamic: gap
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sigmoid_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, 1.0 / (1.0 + tl.exp(-x.to(tl.float32))), mask=i < n)


def launch(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        sigmoid_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


pool = [torch.cuda.Stream() for _ in range(32)]


def sigmoid_bf16(input: torch.Tensor) -> torch.Tensor:
    with torch.cuda.stream(pool[0]):
        out = launch(input)
    torch.cuda.current_stream().wait_stream(pool[0])
    return out
