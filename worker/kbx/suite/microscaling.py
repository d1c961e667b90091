"""Four-bit floats with a scale for each block: elements E2M1 and scales E8M0 of the OCP Microscaling Formats specification, version 1.0.

Everything is exact: what these functions are given decides each bit of what they return.
"""

from __future__ import annotations

import torch

E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Values of the codes 0 to 7; 8 to 15 are their negatives (table 5 of the specification)."""
_EXPONENT_OF_LARGEST, _BIAS = 2, 127
_BETWEEN = tuple((low + high) / 2 for low, high in zip(E2M1, E2M1[1:], strict=False))
"""Half-way between each value and the next."""


def e2m1(x: torch.Tensor) -> torch.Tensor:
    """The codes, uint8 from 0 to 15, of finite numbers: rounded to nearest, ties to the even code, and 6 where they are larger.
    The sign is that of ``x``, of zeros as well."""
    size, code = x.abs(), torch.zeros(x.shape, dtype=torch.uint8, device=x.device)
    for below, half_way in enumerate(_BETWEEN):
        code += size >= half_way if below % 2 else size > half_way
    return code | x.signbit().to(torch.uint8) << 3


def of_e2m1(code: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The numbers that codes stand for."""
    table = torch.tensor([*E2M1, *(-value for value in E2M1)], dtype=dtype, device=code.device)
    return table[code.long()]


def packed(code: torch.Tensor) -> torch.Tensor:
    """Codes of four bits, two in a byte along the last dimension, which is even: the first in the low half."""
    return code[..., ::2] | code[..., 1::2] << 4


def unpacked(byte: torch.Tensor) -> torch.Tensor:
    """The inverse of ``packed``: uint8 codes, twice as many along the last dimension."""
    return torch.stack([byte & 15, byte >> 4], -1).flatten(-2)


def e8m0(largest: torch.Tensor) -> torch.Tensor:
    """The scales, as uint8, of blocks of E2M1 elements whose largest magnitudes are given: the power of two ``floor(log2(largest)) - 2``
    (section 6.3 of the specification), 2^-127 where that is smaller or all is zero."""
    exponent = torch.frexp(largest).exponent - 1
    biased = torch.where(largest > 0, exponent - _EXPONENT_OF_LARGEST + _BIAS, 0)
    return biased.clamp(0, 254).to(torch.uint8)


def of_e8m0(byte: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The powers of two that scales stand for; 255 is not a number."""
    power = torch.exp2(byte.to(torch.float64) - _BIAS)
    return power.masked_fill(byte == 255, torch.nan).to(dtype)
