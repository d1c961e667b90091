"""Simple recurrent network over a sequence.

`Model(input_size, hidden_size, output_size)` has two linear layers with bias and PyTorch's default initialisation:
`i2h`, from `input_size + hidden_size` to `hidden_size`, and `h2o`, from `hidden_size` to `output_size`.

`forward(x, h0)` takes `x` of shape `(length, batch, input_size)` and the first hidden state `h0` of shape
`(batch, hidden_size)`, float32. For each step `t`, in order, the hidden state becomes `tanh(i2h(c))`, where `c` is
`x[t]` with the hidden state joined behind it, `(batch, input_size + hidden_size)`; the step's output is `h2o` of the
new hidden state. The result holds all outputs, `(length, batch, output_size)`. `h0` is not changed.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("recurrent", "matmul")
DTYPE = "float32"

PUBLISHED = dict(length=256, batch_size=8, input_size=1024, hidden_size=256, output_size=128)
SCALED = dict(length=17, batch_size=3, input_size=37, hidden_size=29, output_size=19)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, output_size: int):
        super().__init__()
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)

    def forward(self, x: torch.Tensor, h0: torch.Tensor) -> torch.Tensor:
        hidden, outputs = h0, []
        for step in x:
            hidden = torch.tanh(self.i2h(torch.cat([step, hidden], dim=1)))
            outputs.append(self.h2o(hidden))
        return torch.stack(outputs)


def init_inputs(input_size, hidden_size, output_size):
    return [input_size, hidden_size, output_size]


def inputs(make, length, batch_size, input_size, hidden_size):
    return call(make.floats(length, batch_size, input_size), make.floats(batch_size, hidden_size))


class PositiveInputsFirst(Model):
    """The inputs' and the outputs' products for all steps at once; only the hidden state's are in the loop."""

    def forward(self, x, h0):
        from_input, from_hidden = self.i2h.weight.split([x.shape[2], h0.shape[1]], dim=1)
        hidden, states = h0, []
        for step in x @ from_input.T + self.i2h.bias:
            hidden = torch.tanh(step + hidden @ from_hidden.T)
            states.append(hidden)
        return self.h2o(torch.stack(states))


class NegativeSwapped(Model):
    """Joins the hidden state before the input."""

    def forward(self, x, h0):
        hidden, outputs = h0, []
        for step in x:
            hidden = torch.tanh(self.i2h(torch.cat([hidden, step], dim=1)))
            outputs.append(self.h2o(hidden))
        return torch.stack(outputs)


class NegativeStartsFromZeros(Model):
    """Ignores the first hidden state."""

    def forward(self, x, h0):
        return super().forward(x, torch.zeros_like(h0))


class NegativeOutputsLate(Model):
    """Makes each output from the state before the step."""

    def forward(self, x, h0):
        hidden, outputs = h0, []
        for step in x:
            outputs.append(self.h2o(hidden))
            hidden = torch.tanh(self.i2h(torch.cat([step, hidden], dim=1)))
        return torch.stack(outputs)
