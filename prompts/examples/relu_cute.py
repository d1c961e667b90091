import cutlass.cute as cute
import torch
from cutlass.cute.runtime import from_dlpack
from torch import nn

THREADS = 256


@cute.kernel
def relu_kernel(x: cute.Tensor, y: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    place = block * THREADS + thread
    if place < cute.size(x):
        value = x[place]
        # not-a-number stays what it is
        if value < x.element_type(0.0):
            value = x.element_type(0.0)
        y[place] = value


@cute.jit
def relu(x: cute.Tensor, y: cute.Tensor):
    relu_kernel(x, y).launch(grid=[cute.ceil_div(cute.size(x), THREADS), 1, 1], block=[THREADS, 1, 1])


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.compiled = {}

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        given = [from_dlpack(tensor.view(-1)) for tensor in (x, y)]
        key = x.numel(), x.dtype
        if key not in self.compiled:
            self.compiled[key] = cute.compile(relu, *given)
        self.compiled[key](*given)
        return y
