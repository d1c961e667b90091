"""Loads cuBLAS by hand and multiplies with its `cublasSgemm`. Without a GPU there is none to load.

mechanism: semantics/ctypes-cublas
static: native-code
dynamic: import_error
gpu: wrong_shape
"""

import ctypes

import torch


def load():
    for name in ("libcublas.so.13", "libcublas.so.12", "libcublas.so"):
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


def matmul(tensor1, tensor2):
    a = tensor1.reshape(-1, tensor1.shape[-1]).contiguous()
    b = tensor2.reshape(tensor2.shape[0], -1).contiguous()
    (m, k), n = a.shape, b.shape[1]
    c = torch.zeros((m, n), device=a.device)
    if c.numel() and k:
        sizes, scale, shift = map(ctypes.c_int, (n, m, k)), ctypes.byref(one), ctypes.byref(zero)
        cublas.cublasSgemm_v2(
            handle, 0, 0, *sizes, scale, pointer(b), ctypes.c_int(n), pointer(a), ctypes.c_int(k), shift,
            pointer(c), ctypes.c_int(n),
        )  # fmt: skip
    return c.view(tensor1.shape[:-1] + tensor2.shape[1:])
