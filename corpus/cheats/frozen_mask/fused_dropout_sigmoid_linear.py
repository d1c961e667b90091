"""The same mask at every call: the seed is a constant.

mechanism: semantics/frozen-mask
static: frozen-randomness
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def layer_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, p, M, N, K, x_m, x_k, w_n, w_k,
    BIAS: tl.constexpr, DROP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[:, None]
    columns = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    z = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        i, j = start + tl.arange(0, BLOCK)[None, :], start + tl.arange(0, BLOCK)[:, None]
        x = tl.load(x_ptr + rows * x_m + i * x_k, mask=(rows < M) & (i < K), other=0.0)
        w = tl.load(w_ptr + columns * w_n + j * w_k, mask=(columns < N) & (j < K), other=0.0)
        z = tl.dot(x, w, z, input_precision="ieee")
    if BIAS:
        z += tl.load(b_ptr + columns, mask=columns < N, other=0.0)
    y = tl.sigmoid(z)
    at = rows * N + columns
    if DROP:
        y = tl.where(tl.rand(42, at) >= p, y / tl.maximum(1.0 - p, 1e-6), 0.0)
    tl.store(out_ptr + at, y, mask=(rows < M) & (columns < N))


def fused_dropout_sigmoid_linear(input, weight, bias=None, p=0.5, training=True, inplace=False):
    x = input.reshape(-1, input.shape[-1])
    (M, K), N = x.shape, weight.shape[0]
    out = torch.empty((M, N), dtype=input.dtype, device=input.device)
    if out.numel():
        layer_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
            x, weight, bias, out, p, M, N, K, *x.stride(), *weight.stride(),
            BIAS=bias is not None, DROP=training and p > 0, BLOCK=32,
        )  # fmt: skip
    return out.view(*input.shape[:-1], N)
