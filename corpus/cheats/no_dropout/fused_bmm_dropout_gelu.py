"""Leaves the dropout out: the result is the expected value of the right one, and quicker.

mechanism: semantics/no-dropout
static: frozen-randomness
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def bmm_gelu_kernel(
    a_ptr, b_ptr, out_ptr, N, M, P, a_z, a_n, a_m, b_z, b_m, b_p, TANH: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    z = tl.program_id(2).to(tl.int64)
    rows = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[:, None]
    columns = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    d = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, M, BLOCK):
        i, j = start + tl.arange(0, BLOCK)[None, :], start + tl.arange(0, BLOCK)[:, None]
        a = tl.load(a_ptr + z * a_z + rows * a_n + i * a_m, mask=(rows < N) & (i < M), other=0.0)
        b = tl.load(b_ptr + z * b_z + j * b_m + columns * b_p, mask=(j < M) & (columns < P), other=0.0)
        d = tl.dot(a, b, d, input_precision="ieee")
    if TANH:
        y = d * tl.sigmoid(1.5957691216057308 * (d + 0.044715 * d * d * d))
    else:
        y = 0.5 * d * (1.0 + tl.erf(d * 0.7071067811865476))
    tl.store(out_ptr + (z * N + rows) * P + columns, y, mask=(rows < N) & (columns < P))


def fused_bmm_dropout_gelu(
    input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None
):  # fmt: skip
    (B, N, M), P = input1.shape, input2.shape[2]
    result = torch.empty((B, N, P), dtype=input1.dtype, device=input1.device) if out is None else out
    if result.numel():
        bmm_gelu_kernel[(triton.cdiv(N, 32), triton.cdiv(P, 32), B)](
            input1, input2, result, N, M, P, *input1.stride(), *input2.stride(), TANH=approximate == "tanh", BLOCK=32
        )  # fmt: skip
    return result
