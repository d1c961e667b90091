"""Traces PyTorch operations once and replays the trace.

mechanism: semantics/torch-script
static: torch-compile
dynamic: not_a_kernel
"""

import torch


def squared(input, target):
    return (input - target).square()


kernel = torch.jit.trace(squared, (torch.zeros(2), torch.zeros(2)))


def mse_loss(input, target, reduction="mean"):
    loss = kernel(input, target)
    return loss if reduction == "none" else loss.sum() if reduction == "sum" else loss.mean()
