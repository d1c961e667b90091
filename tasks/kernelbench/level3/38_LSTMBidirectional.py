"""Bidirectional long short-term memory network (LSTM), read at its last step.

`Model(input_size, hidden_size, num_layers, output_size, dropout=0.0)` has `lstm`, a bidirectional `nn.LSTM` of
`num_layers` layers with bias, the batch in front (`batch_first=True`) and dropout of that probability between the
layers, 0 in this task; and `fc`, a linear layer from `2 · hidden_size` to `output_size`. Both have PyTorch's default
initialisation.

`forward(x, h0, c0)` takes `x` of shape `(batch, length, input_size)` and the first hidden and cell states, `h0` and
`c0`, each `(2 · num_layers, batch, hidden_size)`, all float32: entry `2 l` belongs to layer `l`'s forward direction,
entry `2 l + 1` to its reverse one. The result is `fc` of the last layer's hidden states at the last step, forward
beside reverse, `(batch, output_size)`. The reverse direction has seen only one step there.

For each layer and each step `t`, with the four blocks of rows of `weight_ih`, `weight_hh`, `bias_ih` and `bias_hh` in
the order `i`, `f`, `g`, `o`: `z = weight_ih x_t + bias_ih + weight_hh h + bias_hh`,
`c = sigmoid(z_f) c + sigmoid(z_i) tanh(z_g)`, `h = sigmoid(z_o) tanh(c)`. `h` of every step is the next layer's
input. The second direction, whose parameters' names end in `_reverse`, runs from the last step to the first; both
directions' `h` of the same step, side by side, are the next layer's input.
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

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, output_size, dropout=0.0):
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout, bidirectional=True)
        self.fc = nn.Linear(2 * hidden_size, output_size)

    def forward(self, x, h0, c0):
        out, _ = self.lstm(x, (h0, c0))
        return self.fc(out[:, -1])


def init_inputs(input_size, hidden_size, num_layers, output_size, dropout):
    return [input_size, hidden_size, num_layers, output_size, dropout]


def inputs(make, batch_size, length, input_size, hidden_size, num_layers):
    state = (2 * num_layers, batch_size, hidden_size)
    return call(make.floats(batch_size, length, input_size), make.floats(*state), make.floats(*state))


class PositiveStepByStep(Model):
    """Gate by gate; the inputs' products for all steps at once."""

    def forward(self, x, h0, c0):
        for layer in range(self.lstm.num_layers):
            ahead, _, _ = self.run(x, h0[2 * layer], c0[2 * layer], f"_l{layer}")
            back, _, _ = self.run(x.flip(1), h0[2 * layer + 1], c0[2 * layer + 1], f"_l{layer}_reverse")
            x = torch.cat([ahead, back.flip(1)], dim=2)
        return self.fc(x[:, -1])

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


class NegativeLastStates(Model):
    """Reads the reverse direction after its own last step, which is the first of the sequence."""

    def forward(self, x, h0, c0):
        _, (h_n, _) = self.lstm(x, (h0, c0))
        return self.fc(torch.cat([h_n[-2], h_n[-1]], dim=1))


class NegativeDirectionsInBlocks(Model):
    """Takes the states for ordered by direction, then by layer."""

    def forward(self, x, h0, c0):
        h0, c0 = (torch.stack(s.chunk(2), dim=1).flatten(0, 1) for s in (h0, c0))
        return super().forward(x, h0, c0)
