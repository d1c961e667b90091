"""bf16, fp8 and TF32 for numpy, which has none: raw bits to float32 and back, rounded to nearest even as the hardware does.

Triton's interpreter keeps such values as ``uint16``/``uint8`` bits and its stock operators compute on those integers;
``widen`` and ``narrow`` are how every operator of ours leaves and re-enters that form.
"""

import numpy as np
import torch
import triton.language as tl

_TORCH_FP8 = {
    "fp8e4nv": torch.float8_e4m3fn,
    "fp8e5": torch.float8_e5m2,
    "fp8e4b8": torch.float8_e4m3fnuz,
    "fp8e5b16": torch.float8_e5m2fnuz,
}


def has_raw_bits(dtype):
    """Whether the interpreter stores this Triton scalar type as integer bits that mean a float."""
    return dtype == tl.bfloat16 or dtype.name in _TORCH_FP8


def bf16_to_f32(bits):
    """uint16 array to float32: exact."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def f32_to_bf16(values):
    """float32 array to uint16 bits, round to nearest even; every NaN becomes the canonical quiet NaN."""
    values = np.asarray(values, dtype=np.float32)
    bits = values.view(np.uint32)
    rounded = ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def tf32(values):
    """float32 array rounded to the ten bits of mantissa that TF32 keeps, ties away from zero as ``cvt.rna.tf32`` does."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32)
    rounded = ((bits + 0x1000) & 0xFFFFE000).view(np.float32)
    return np.where(np.isfinite(values), rounded, values)


def widen(data, dtype):
    """Values of a handle of scalar type ``dtype`` as an array that numpy can compute with."""
    if dtype == tl.bfloat16:
        return bf16_to_f32(data)
    if dtype.name in _TORCH_FP8:
        bits = torch.from_numpy(np.array(data, dtype=np.uint8))
        return bits.view(_TORCH_FP8[dtype.name]).float().numpy()
    return data


def narrow(values, dtype):
    """Inverse of ``widen``: float values as bits of ``dtype``.

    fp8 saturates at the largest finite value, as ``cvt.rn.satfinite`` does on every GPU that has it; NaN stays NaN.
    """
    if dtype == tl.bfloat16:
        return f32_to_bf16(values)
    target = _TORCH_FP8[dtype.name]
    largest = torch.finfo(target).max
    wide = torch.from_numpy(np.array(values, dtype=np.float32)).clamp(-largest, largest)
    return wide.to(target).view(torch.uint8).numpy()
