"""Long short-term memory network (LSTM), read at its last step.

`Model(input_size, hidden_size, num_layers, output_size, dropout=0.0)` has `lstm`, an `nn.LSTM` of `num_layers` layers
with bias, the batch in front (`batch_first=True`) and dropout of that probability between the layers, 0 in this task;
and `fc`, a linear layer from `hidden_size` to `output_size`. Both have PyTorch's default initialisation.

`forward(x, h0=None, c0=None)` takes `x` of shape `(batch, length, input_size)`, float32, and the first hidden and
cell states of the layers, each `(num_layers, batch, hidden_size)`. This task gives none, and `None` leaves them free:
states of about 1, drawn anew in each call or all zeros, have faded long before the last step, and the result is the
same. The result is `fc` of the last layer's hidden state at the last step, `(batch, output_size)`.

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
# Of 11 steps the first states would be a tenth of the result, of 96 they are less than rounding.
SCALED = dict(
    batch_size=3, length=96,
    input_size=13, hidden_size=9, num_layers=3, output_size=7, dropout=0.0,
)  # fmt: skip

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, output_size, dropout=0.0):
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout)
        self.fc = nn.Linear(hidden_size, output_size)

    def forward(self, x, h0=None, c0=None):
        if h0 is None:
            h0 = x.new_zeros(self.lstm.num_layers, len(x), self.lstm.hidden_size)
        if c0 is None:
            c0 = x.new_zeros(self.lstm.num_layers, len(x), self.lstm.hidden_size)
        out, _ = self.lstm(x, (h0, c0))
        return self.fc(out[:, -1])


def init_inputs(input_size, hidden_size, num_layers, output_size, dropout):
    return [input_size, hidden_size, num_layers, output_size, dropout]


def inputs(make, batch_size, length, input_size):
    return call(make.floats(batch_size, length, input_size))


class PositiveStepByStep(Model):
    """Gate by gate; the inputs' products for all steps at once."""

    def forward(self, x, h0=None, c0=None):
        zeros = x.new_zeros(len(x), self.lstm.hidden_size)
        for layer in range(self.lstm.num_layers):
            x, h, _ = self.run(x, zeros, zeros, f"_l{layer}")
        return self.fc(h)

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


class PositiveDrawnStates(Model):
    """Begins with states drawn from the standard normal distribution, first the hidden ones, as the original does."""

    def forward(self, x, h0=None, c0=None):
        shape = self.lstm.num_layers, len(x), self.lstm.hidden_size
        h0 = torch.randn(shape, device=x.device, dtype=x.dtype) if h0 is None else h0
        c0 = torch.randn(shape, device=x.device, dtype=x.dtype) if c0 is None else c0
        return super().forward(x, h0, c0)


class NegativeGateOrder(PositiveStepByStep):
    """Takes the gates for ordered input, forget, output, cell."""

    @staticmethod
    def gates(z):
        i, f, o, g = z.chunk(4, dim=1)
        return i, f, g, o


class NegativeOneBias(Model):
    """Adds only the bias of the input."""

    def forward(self, x, h0=None, c0=None):
        for name, parameter in self.lstm.named_parameters():
            if name.startswith("bias_hh"):
                parameter.data.zero_()
        return super().forward(x, h0, c0)


class NegativeOneLayer(PositiveStepByStep):
    """Reads the result from the layer before the last one."""

    def forward(self, x, h0=None, c0=None):
        zeros = x.new_zeros(len(x), self.lstm.hidden_size)
        for layer in range(self.lstm.num_layers - 1):
            x, h, _ = self.run(x, zeros, zeros, f"_l{layer}")
        return self.fc(h)


class NegativeMeanOfSteps(Model):
    """Averages the hidden state over the steps."""

    def forward(self, x, h0=None, c0=None):
        return self.fc(self.lstm(x)[0].mean(1))
