"""Long short-term memory network (LSTM): the last cell states.

`Model(input_size, hidden_size, num_layers, output_size, dropout=0.0)` has `lstm`, an `nn.LSTM` of `num_layers` layers
with bias, the batch in front (`batch_first=True`) and dropout of that probability between the layers, 0 in this task;
and `fc`, a linear layer from `hidden_size` to `output_size`, which `forward` does not use. Both have PyTorch's
default initialisation.

`forward(x, h0, c0)` takes `x` of shape `(batch, length, input_size)` and the first hidden and cell states of the
layers, `h0` and `c0`, each `(num_layers, batch, hidden_size)`, all float32. The result holds the cell states of all
layers after the last step, `(num_layers, batch, hidden_size)`.

For each layer and each step `t`, with the four blocks of rows of `weight_ih`, `weight_hh`, `bias_ih` and `bias_hh` in
the order `i`, `f`, `g`, `o`: `z = weight_ih x_t + bias_ih + weight_hh h + bias_hh`,
`c = sigmoid(z_f) c + sigmoid(z_i) tanh(z_g)`, `h = sigmoid(z_o) tanh(c)`. `h` of every step is the next layer's
input.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("recurrent", "matmul")
DTYPE = "float32"

PUBLISHED = dict(
    batch_size=10, length=512,
    input_size=128, hidden_size=256, num_layers=6, output_size=10, dropout=0.0,
)  # fmt: skip
SCALED = dict(
    batch_size=3, length=11,
    input_size=13, hidden_size=9, num_layers=3, output_size=7, dropout=0.0,
)  # fmt: skip
# After 512 steps nothing is left of the first states.
BESIDE = dict(batch_size=3, length=7)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, output_size, dropout=0.0):
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout)
        self.fc = nn.Linear(hidden_size, output_size)

    def forward(self, x, h0, c0):
        _, (_, c_n) = self.lstm(x, (h0, c0))
        return c_n


def init_inputs(input_size, hidden_size, num_layers, output_size, dropout):
    return [input_size, hidden_size, num_layers, output_size, dropout]


def inputs(make, batch_size, length, input_size, hidden_size, num_layers):
    state = (num_layers, batch_size, hidden_size)
    return call(make.floats(batch_size, length, input_size), make.floats(*state), make.floats(*state))


class PositiveStepByStep(Model):
    """Gate by gate; the inputs' products for all steps at once."""

    def forward(self, x, h0, c0):
        states = []
        for layer, (h, c) in enumerate(zip(h0, c0, strict=True)):
            x, h, c = self.run(x, h, c, f"_l{layer}")
            states.append(c)
        return torch.stack(states)

    def run(self, x, h, c, suffix):
        weight_ih, weight_hh, bias_ih, bias_hh = (
            getattr(self.lstm, name + suffix) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        outputs = []
        for z in (x @ weight_ih.T + (bias_ih + bias_hh)).unbind(1):
            i, f, g, o = self.gates(z + h @ weight_hh.T)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            outputs.append(h)
        return torch.stack(outputs, dim=1), h, c

    @staticmethod
    def gates(z):
        return z.chunk(4, dim=1)


class NegativeGateOrder(PositiveStepByStep):
    """Takes the gates for ordered input, forget, output, cell."""

    @staticmethod
    def gates(z):
        i, f, o, g = z.chunk(4, dim=1)
        return i, f, g, o


class NegativeStartsFromZeros(Model):
    """Ignores the given states."""

    def forward(self, x, h0, c0):
        return super().forward(x, torch.zeros_like(h0), torch.zeros_like(c0))


class NegativeHiddenStates(Model):
    """Returns the hidden states."""

    def forward(self, x, h0, c0):
        return self.lstm(x, (h0, c0))[1][0]


class NegativeOneStepShort(Model):
    """Stops before the last step."""

    def forward(self, x, h0, c0):
        return super().forward(x[:, :-1], h0, c0)
