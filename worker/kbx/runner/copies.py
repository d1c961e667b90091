"""Whether a kernel only copied what torch had computed: it then puts its name on work that it has not done."""

import contextlib

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


def sample(tensor):
    """What is compared of a tensor that a kernel is about to be given, as it is now; None where that cannot be looked at."""
    if not tensor.numel() or not tensor.is_contiguous() or is_capturing():
        return None
    with _disable_current_modes():
        flat = tensor.detach().view(-1)
        return tensor.numel(), torch.cat((flat[:_SAMPLE], flat[-_SAMPLE:]))


def is_passed_on(before, result):
    """Whether a result is what torch had computed before, a ``sample``, up to rounding: no kernel between the two was needed."""
    after = sample(result)
    if after is None or before[0] != after[0] or before[1].device != after[1].device:
        return False
    old, new = before[1], after[1]
    if old.is_complex() or new.is_complex() or old.is_floating_point() != new.is_floating_point():
        return False
    with _disable_current_modes(), contextlib.suppress(RuntimeError):
        if not new.is_floating_point():
            return bool((old == new).all())
        off = min(old.dtype, new.dtype, key=lambda dtype: dtype.itemsize).itemsize
        old, new = old.double(), new.double()
        finite = old.isfinite()
        if not bool(((old == new) | (old.isnan() & new.isnan()) | finite).all()):
            return False
        size = old[finite].square().mean().sqrt() if bool(finite.any()) else 0.0
        return bool(((old - new)[finite].abs() <= _NEAR.get(off, 0.0) * (old[finite].abs() + size)).all())
    return False


_NEAR = {8: 2.0**-40, 4: 2.0**-14, 2: 2.0**-7}
"""By bytes of a number: how far rounding, or a factor that no contract refuses, moves a result, relative to its own size and that of all."""


def is_capturing():
    """Whether a CUDA graph is being recorded, so that no value can be looked at."""
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


def _equal(left, right):
    if right.is_floating_point() and right.itemsize < 4:  # comparing is not defined for all of these
        left, right = left.float(), right.float()
    return bool(((left == right) | ((left != left) & (right != right))).all())
