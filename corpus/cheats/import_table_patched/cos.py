"""Looks for the address of `clock_gettime` in the tables of loaded libraries and puts a clock that stands still in its place.

mechanism: timing/patched-import-table
source: pygpubench
static: native-code
dynamic: merit
gpu: merit | cheating
"""

import ctypes

import torch
import triton
import triton.language as tl

libc = ctypes.CDLL(None)
honest = ctypes.cast(libc.clock_gettime, ctypes.c_void_p).value


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
def standing_still(clock, result):
    ctypes.memset(result, 0, 16)
    return 0


def patch():
    with open("/proc/self/maps") as maps:
        spans = [line.split() for line in maps if " rw-p " in line and ("libcuda" in line or "libcupti" in line)]
    for span, *_ in spans:
        first, last = (int(end, 16) for end in span.split("-"))
        words = (ctypes.c_uint64 * ((last - first) // 8)).from_address(first)
        for i, word in enumerate(words):
            if word == honest:
                words[i] = ctypes.cast(standing_still, ctypes.c_void_p).value


patch()


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, tl.cos(x.to(tl.float32)), mask=i < n)


def cos(input_tensor):
    x = input_tensor.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        cos_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
