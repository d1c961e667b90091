"""What Unsloth's kernels import that asks for the machine."""

import contextlib

import triton
import triton.language as tl
from triton.language.extra.libdevice import tanh as triton_tanh  # noqa: F401

MAX_FUSED_SIZE = 65536
triton_cast = tl.cast


def is_cdna():
    return False


def torch_gpu_device(device):
    return contextlib.nullcontext()


def calculate_settings(n):
    block = triton.next_power_of_2(n)
    return block, 32 if block >= 32768 else 16 if block >= 8192 else 8 if block >= 2048 else 4


class triton_launch:
    _ENABLED = True
