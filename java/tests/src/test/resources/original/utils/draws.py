"""Helpers of the test files, where the original keeps its own."""

import torch


def normal(*shape, scale=1.0):
    return torch.randn(*shape, device="cuda") * scale
