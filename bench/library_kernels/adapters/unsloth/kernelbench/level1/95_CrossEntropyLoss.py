from torch import nn
from unsloth.kernels.cross_entropy_loss import Fast_CrossEntropyLoss


class ModelNew(nn.Module):
    def forward(self, predictions, targets):
        return Fast_CrossEntropyLoss.apply(predictions, targets).mean()
