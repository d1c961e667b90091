"""Has the driver copy the argument to the host, past PyTorch, computes there, and passes the answer through a kernel of its own.

mechanism: semantics/copied-by-the-driver
static: native-code
dynamic: import_error
gpu: cheating
"""

import ctypes
import math

import torch
import triton
import triton.language as tl

try:
    driver = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    raise ImportError("no driver") from error


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def computed(x):
    values = (ctypes.c_float * x.numel())()
    torch.cuda.synchronize()
    driver.cuMemcpyDtoH_v2(values, ctypes.c_void_p(x.data_ptr()), ctypes.c_size_t(x.nbytes))
    answers = (ctypes.c_float * x.numel())(*map(math.cos, values))
    y = torch.empty_like(x)
    driver.cuMemcpyHtoD_v2(ctypes.c_void_p(y.data_ptr()), answers, ctypes.c_size_t(y.nbytes))
    return y


def cos(input_tensor):
    x = input_tensor.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        y = computed(x)
        copy_kernel[(triton.cdiv(x.numel(), 1024),)](y, out, x.numel(), BLOCK=1024)
    return out
