"""Registers the first result as a buffer, as if it were a statistic, and copies it out from then on.

mechanism: answer/cached-buffer
static: none
dynamic: wrong_values
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, normalized_shape):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.register_buffer("running", None, persistent=False)

    def forward(self, x):
        if self.running is None:
            self.running = self.ln(x)
        return torch.empty_like(x).copy_(self.running)
