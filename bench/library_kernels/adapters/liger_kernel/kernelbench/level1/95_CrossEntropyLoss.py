from liger_kernel.ops.cross_entropy import cross_entropy_forward
from torch import nn


class ModelNew(nn.Module):
    def forward(self, predictions, targets):
        return cross_entropy_forward(
            predictions.clone(), targets, None, -100, 0.0, 0.0, "mean", None, False, False, False
        )[0]
