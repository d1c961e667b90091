import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def scaled_silu_kernel(x_ptr, scale_ptr, out_ptr, n, features, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    scale = tl.load(scale_ptr + at % features, mask=mask)
    tl.store(out_ptr + at, x * tl.sigmoid(x) * scale, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(features))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        scaled_silu_kernel[(triton.cdiv(n, 1024),)](x, self.scale, out, n, x.shape[-1], BLOCK=1024)
        return out
