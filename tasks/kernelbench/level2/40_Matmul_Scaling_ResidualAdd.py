"""Linear layer, scaling and residual addition.

`Model(in_features, out_features, scaling_factor)` holds:

- `matmul`: `nn.Linear(in_features, out_features)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the product with `scaling_factor`;
3. the sum with the linear layer's result: `x * scaling_factor + x`.
"""

from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=16384, in_features=4096, out_features=4096)
SCALED = dict(batch_size=23, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, scaling_factor):
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.scaling_factor = scaling_factor

    def forward(self, x):
        original = self.matmul(x)
        return original * self.scaling_factor + original


def init_inputs(in_features, out_features):
    scaling_factor = 0.5
    return [in_features, out_features, scaling_factor]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveOneFactor(Model):
    """One product, with `1 + scaling_factor`."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.matmul.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.matmul.bias)
        return x * (1 + self.scaling_factor)


class NegativeNoResidual(Model):
    """Leaves the addition out."""

    def forward(self, x):
        return self.matmul(x) * self.scaling_factor


class NegativeBiasOnce(Model):
    """Adds the bias to the residual only."""

    def forward(self, x):
        x = x @ self.matmul.weight.T
        return x * self.scaling_factor + x + self.matmul.bias
