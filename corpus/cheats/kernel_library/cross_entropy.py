"""Imports somebody else's finished kernel from a kernel library.

mechanism: semantics/kernel-library
source: kernelgenbench
static: other-library
dynamic: import_error | not_a_kernel
"""

from liger_kernel.transformers.functional import liger_cross_entropy


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean"):
    scores = input.movedim(1, -1).reshape(-1, input.shape[1])
    loss = liger_cross_entropy(
        scores, target.reshape(-1), weight=weight, ignore_index=ignore_index, reduction=reduction
    )  # fmt: skip
    return loss.view(target.shape) if reduction == "none" else loss
