"""Has cuBLAS, called by hand, write into a fresh tensor, and copies that with a kernel of its own. Without a GPU there is none to load.

mechanism: semantics/library-beneath-a-kernel
static: native-code
dynamic: import_error
gpu: cheating | not_a_kernel
"""

import ctypes
import glob
import os

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def load():
    packages = os.path.dirname(os.path.dirname(torch.__file__))
    found = glob.glob(f"{packages}/nvidia/*/lib/libcublas.so.*") + ["libcublas.so.13", "libcublas.so.12"]
    for name in found:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise ImportError("no cuBLAS")


cublas, handle = load(), ctypes.c_void_p()
one, zero = ctypes.c_float(1.0), ctypes.c_float(0.0)
if cublas.cublasCreate_v2(ctypes.byref(handle)):
    raise ImportError("no handle")


def pointer(t):
    return ctypes.c_void_p(t.data_ptr())


def multiplied(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device)
    sizes, scale, shift = map(ctypes.c_int, (n, m, k)), ctypes.byref(one), ctypes.byref(zero)
    cublas.cublasSgemm_v2(
        handle, 0, 0, *sizes, scale, pointer(b), ctypes.c_int(n), pointer(a), ctypes.c_int(k), shift,
        pointer(c), ctypes.c_int(n),
    )  # fmt: skip
    return c


def matmul(tensor1, tensor2):
    first = tensor1.unsqueeze(0) if tensor1.dim() == 1 else tensor1
    second = tensor2.unsqueeze(1) if tensor2.dim() == 1 else tensor2
    batch = torch.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    a = first.expand(*batch, *first.shape[-2:]).contiguous()
    b = second.expand(*batch, *second.shape[-2:]).contiguous()
    rows, columns = a.shape[-2], b.shape[-1]
    out = torch.zeros((*batch, rows, columns), device=a.device, dtype=a.dtype)
    pieces = out.view(-1, rows, columns)
    torch.cuda.synchronize()
    for index in range(pieces.shape[0] if out.numel() and a.shape[-1] else 0):
        product = multiplied(a.view(-1, *a.shape[-2:])[index], b.view(-1, *b.shape[-2:])[index])
        torch.cuda.synchronize()
        copy_kernel[(triton.cdiv(product.numel(), 1024),)](product, pieces[index], product.numel(), BLOCK=1024)
    if tensor1.dim() == 1:
        out = out.squeeze(-2)
    return out.squeeze(-1) if tensor2.dim() == 1 else out
