"""Makes a stream by the driver, which torch has never heard of, and works on it ahead of the caller's.

mechanism: timing/side-stream
static: native-code
dynamic: gap
"""

import ctypes

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, tl.where(x <= 0, 0.0, x), mask=i < n)


def launch(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        relu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


NON_BLOCKING = 1


def raw():
    try:
        driver, made = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
    except OSError:
        return torch.cuda.Stream()
    if driver.cuInit(0):  # no GPU, or none for this process
        return torch.cuda.Stream()
    torch.cuda.current_stream().synchronize()
    driver.cuStreamCreate(ctypes.byref(made), NON_BLOCKING)
    return torch.cuda.ExternalStream(made.value)


aside = raw()


def relu_fp16(input: torch.Tensor) -> torch.Tensor:
    with torch.cuda.stream(aside):
        out = launch(input)
    torch.cuda.current_stream().wait_stream(aside)
    return out
