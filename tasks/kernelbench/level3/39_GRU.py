"""Gated recurrent unit network (GRU): the outputs of all steps.

`Model(input_size, hidden_size, num_layers=3, bias=True, batch_first=False)` has `gru`, an `nn.GRU` with these
arguments, no dropout and PyTorch's default initialisation.

`forward(x, h0)` takes, as `batch_first` is false in this task, `x` of shape `(length, batch, input_size)` and the
first hidden states `h0` of shape `(num_layers, batch, hidden_size)`, both float32. The result holds the last layer's
hidden state of every step, `(length, batch, hidden_size)`.

For each layer and each step `t`, with the three blocks of rows of `weight_ih`, `weight_hh`, `bias_ih` and `bias_hh`
in the order `r`, `z`, `n`: `a = weight_ih x_t + bias_ih`, `b = weight_hh h + bias_hh`, `r = sigmoid(a_r + b_r)`,
`z = sigmoid(a_z + b_z)`, `n = tanh(a_n + r b_n)` and `h = (1 - z) n + z h`. `h` of every step is the next layer's
input.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("recurrent", "matmul")
DTYPE = "float32"

PUBLISHED = dict(length=512, batch_size=10, input_size=128, hidden_size=256, num_layers=6)
SCALED = dict(length=11, batch_size=3, input_size=13, hidden_size=9, num_layers=3)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers=3, bias=True, batch_first=False):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers, bias, batch_first)

    def forward(self, x, h0):
        output, _ = self.gru(x, h0)
        return output


def init_inputs(input_size, hidden_size, num_layers):
    return [input_size, hidden_size, num_layers]


def inputs(make, length, batch_size, input_size, hidden_size, num_layers):
    return call(make.floats(length, batch_size, input_size), make.floats(num_layers, batch_size, hidden_size))


class PositiveStepByStep(Model):
    """Gate by gate; the inputs' products for all steps at once."""

    def forward(self, x, h0):
        for layer, h in enumerate(h0):
            x = self.run(x, h, f"_l{layer}")
        return x

    def run(self, x, h, suffix):
        weight_ih, weight_hh, bias_ih, bias_hh = (
            getattr(self.gru, name + suffix) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        outputs = []
        for a in x @ weight_ih.T + bias_ih:
            h = self.step(a, h, weight_hh, bias_hh)
            outputs.append(h)
        return torch.stack(outputs)

    @staticmethod
    def step(a, h, weight_hh, bias_hh):
        a_r, a_z, a_n = a.chunk(3, dim=1)
        b_r, b_z, b_n = (h @ weight_hh.T + bias_hh).chunk(3, dim=1)
        n = torch.tanh(a_n + torch.sigmoid(a_r + b_r) * b_n)
        return n + torch.sigmoid(a_z + b_z) * (h - n)


class NegativeResetBeforeProduct(PositiveStepByStep):
    """Resets the hidden state before it is multiplied, as another form of the GRU does."""

    @staticmethod
    def step(a, h, weight_hh, bias_hh):
        a_r, a_z, a_n = a.chunk(3, dim=1)
        b_r, b_z, _ = (h @ weight_hh.T + bias_hh).chunk(3, dim=1)
        b_n = (torch.sigmoid(a_r + b_r) * h) @ weight_hh.chunk(3)[2].T + bias_hh.chunk(3)[2]
        n = torch.tanh(a_n + b_n)
        return n + torch.sigmoid(a_z + b_z) * (h - n)


class NegativeUpdateTurnedAround(PositiveStepByStep):
    """Keeps `1 - z` of the state instead of `z`."""

    @staticmethod
    def step(a, h, weight_hh, bias_hh):
        a_r, a_z, a_n = a.chunk(3, dim=1)
        b_r, b_z, b_n = (h @ weight_hh.T + bias_hh).chunk(3, dim=1)
        n = torch.tanh(a_n + torch.sigmoid(a_r + b_r) * b_n)
        return h + torch.sigmoid(a_z + b_z) * (n - h)


class NegativeStartsFromZeros(Model):
    """Ignores the given state."""

    def forward(self, x, h0):
        return super().forward(x, torch.zeros_like(h0))


class NegativeFirstLayer(PositiveStepByStep):
    """Returns the first layer's states."""

    def forward(self, x, h0):
        return self.run(x, h0[0], "_l0")
