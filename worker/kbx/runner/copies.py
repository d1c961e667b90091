"""Whether a kernel only copied what torch had computed: it then puts its name on work that it has not done."""

import torch
from torch.utils._python_dispatch import _disable_current_modes

_SAMPLE = 1 << 16
"""Of larger tensors only so many elements at either end are compared."""


def is_copy(source, target):
    """Whether ``target`` holds the values of ``source``, rounded to its dtype. False where that cannot be told."""
    if source.numel() != target.numel() or not source.numel() or source.device != target.device:
        return False
    if not (source.is_contiguous() and target.is_contiguous()):
        return False
    if is_capturing():
        return False
    with _disable_current_modes():
        ends = ((t.view(-1)[:_SAMPLE], t.view(-1)[-_SAMPLE:]) for t in (source.detach(), target.detach()))
        return all(_equal(s.to(t.dtype), t) for s, t in zip(*ends, strict=True))


def is_capturing():
    """Whether a CUDA graph is being recorded, so that no value can be looked at."""
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


def _equal(left, right):
    if right.is_floating_point() and right.itemsize < 4:  # comparing is not defined for all of these
        left, right = left.float(), right.float()
    return bool(((left == right) | ((left != left) & (right != right))).all())
