"""Disables TF32 in oracle and runner alike."""

import torch


def plain() -> None:
    """Turns TF32 off, which PyTorch takes for convolutions unless told otherwise. A candidate may turn it on again."""
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
