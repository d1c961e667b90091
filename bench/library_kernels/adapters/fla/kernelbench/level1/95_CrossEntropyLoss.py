from fla.modules.fused_cross_entropy.ops import cross_entropy_fwd
from torch import nn


class ModelNew(nn.Module):
    def forward(self, predictions, targets):
        return cross_entropy_fwd(predictions, targets)[0].mean()
