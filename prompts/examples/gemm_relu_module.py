import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def gemm_add_relu_kernel(x_ptr, w_ptr, bias_ptr, y_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    # a sum of short sums: one chain of thousands of products loses digits
    for outer in range(0, k, 8 * BK):
        part = tl.zeros((BM, BN), tl.float32)
        for start in range(outer, tl.minimum(outer + 8 * BK, k), BK):
            inner = start + tl.arange(0, BK)
            x = tl.load(
                x_ptr + rows[:, None] * k + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0
            )
            w = tl.load(
                w_ptr + columns[None, :] * k + inner[:, None],
                mask=(columns[None, :] < n) & (inner[:, None] < k),
                other=0.0,
            )
            part = tl.dot(x, w, part, input_precision="ieee")
        total += part
    y = total + tl.load(bias_ptr + columns, mask=columns < n, other=0.0)[None, :]
    y = tl.maximum(y, 0.0)
    tl.store(y_ptr + rows[:, None] * n + columns[None, :], y, mask=(rows[:, None] < m) & (columns[None, :] < n))


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, bias_shape):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        x = x.contiguous()
        (m, k), n = x.shape, self.gemm.out_features
        y = torch.empty(m, n, device=x.device, dtype=x.dtype)
        grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
        gemm_add_relu_kernel[grid](x, self.gemm.weight, self.bias, y, m, n, k, BM=64, BN=64, BK=32)
        return y
