import tilelang
import tilelang.language as T
from torch import nn


@tilelang.jit(out_idx=[1])
def relu(n, dtype, block=1024):
    @T.prim_func
    def main(x: T.Tensor((n,), dtype), y: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, block), threads=256) as tile:
            for i in T.Parallel(block):
                if tile * block + i < n:
                    value = x[tile * block + i]
                    y[tile * block + i] = T.if_then_else(value < 0, T.cast(0, dtype), value)

    return main


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        kernel = relu(x.numel(), str(x.dtype).removeprefix("torch."))
        return kernel(x.contiguous().view(-1)).view(x.shape)
