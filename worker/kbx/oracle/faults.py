"""Classifies exceptions: caused by the device and its other users, or by the code that raised them.

Torch has exception types for a full or broken GPU, but not for such errors of NVIDIA's libraries: these are recognised by their text.
"""

from __future__ import annotations

import re

import torch

_AcceleratorError = getattr(torch, "AcceleratorError", ())
"""Absent before torch 2.8."""
_FULL = re.compile(r"^CUDA (driver )?error: out of memory|\bCU[A-Z]+_\w*ALLOC\w*_FAILED\b")
_BROKEN = re.compile(
    r"^CUDA (driver )?error: (?!\w+_STATUS_)|\bCU(BLAS|DNN)_STATUS_(NOT_INITIALIZED|EXECUTION_FAILED|INTERNAL_ERROR)"
)
"""Other states of the libraries, such as ``CUBLAS_STATUS_NOT_SUPPORTED``, are about what was asked of them."""


def full(error: BaseException) -> bool:
    """Whether the device had no memory left."""
    return isinstance(error, torch.OutOfMemoryError) or (isinstance(error, RuntimeError) and _matches(_FULL, error))


def of_device(error: BaseException) -> bool:
    """Whether the device is full or broken, of which the code that was running may know nothing."""
    if full(error) or isinstance(error, _AcceleratorError):
        return True
    return isinstance(error, RuntimeError) and _matches(_BROKEN, error)


def _matches(pattern: re.Pattern[str], error: BaseException) -> bool:
    return pattern.search(str(error)) is not None
