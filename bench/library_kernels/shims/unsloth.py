"""What Unsloth's kernels import that asks for the machine."""

import contextlib

import triton
from triton.language.extra.libdevice import tanh as triton_tanh  # noqa: F401


def torch_gpu_device(device):
    return contextlib.nullcontext()


def calculate_settings(n):
    block = triton.next_power_of_2(n)
    return block, 32 if block >= 32768 else 16 if block >= 8192 else 8 if block >= 2048 else 4
