"""One step of a simple recurrent network.

`Model(input_size, hidden_size, output_size)` has two linear layers with bias and PyTorch's default initialisation:
`i2h`, from `input_size + hidden_size` to `hidden_size`, and `h2o`, from `hidden_size` to `output_size`. Before them the
constructor draws `torch.randn(256, hidden_size)`, a state that the original keeps and `forward` does not need: without that
the same seed gives other weights.

`forward(x, initial_hidden=None)` takes `x` of shape `(batch, input_size)` and the hidden state
`(batch, hidden_size)`, float32; `None` stands for zeros. The new hidden state is `tanh(i2h(c))`, where `c` is `x`
with the hidden state joined behind it, `(batch, input_size + hidden_size)`. The result is `h2o` of the new hidden
state, `(batch, output_size)`. `initial_hidden` is not changed.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("recurrent", "matmul")
DTYPE = "float32"

PUBLISHED = dict(batch_size=256, input_size=16384, hidden_size=16384, output_size=8192)
SCALED = dict(batch_size=5, input_size=67, hidden_size=59, output_size=37)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, output_size: int):
        super().__init__()
        self.hidden_size = hidden_size
        torch.randn(PUBLISHED["batch_size"], hidden_size)
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)

    def forward(self, x: torch.Tensor, initial_hidden=None) -> torch.Tensor:
        hidden = x.new_zeros(len(x), self.hidden_size) if initial_hidden is None else initial_hidden
        hidden = torch.tanh(self.i2h(torch.cat([x, hidden], dim=1)))
        return self.h2o(hidden)


def init_inputs(input_size, hidden_size, output_size):
    return [input_size, hidden_size, output_size]


def inputs(make, batch_size, input_size, hidden_size):
    return call(make.floats(batch_size, input_size), make.floats(batch_size, hidden_size))


class PositiveTwoProducts(Model):
    """Input and hidden state each times their part of the weights, and tanh from an exponential."""

    def forward(self, x, initial_hidden=None):
        weight = self.i2h.weight
        z = self.i2h.bias + x @ weight[:, : x.shape[1]].T + initial_hidden @ weight[:, x.shape[1] :].T
        e = torch.expm1(-2 * z.abs())
        return self.h2o(-z.sign() * e / (2 + e))


class NegativeSwapped(Model):
    """Joins the hidden state before the input."""

    def forward(self, x, initial_hidden=None):
        return self.h2o(torch.tanh(self.i2h(torch.cat([initial_hidden, x], dim=1))))


class NegativeIgnoresHidden(Model):
    """Starts from zeros whatever state is given."""

    def forward(self, x, initial_hidden=None):
        return super().forward(x)


class NegativeNoActivation(Model):
    """Leaves the tanh out."""

    def forward(self, x, initial_hidden=None):
        return self.h2o(self.i2h(torch.cat([x, initial_hidden], dim=1)))
