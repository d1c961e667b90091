"""A program has 32 channels and goes through time step by step."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def scan_kernel(
    u_ptr, delta_ptr, a_ptr, b_ptr, c_ptr, d_ptr, z_ptr, bias_ptr, state_ptr, out_ptr, after_ptr, width, L,
    N: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    d, batch = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1).to(tl.int64)
    inside, n = d < width, tl.arange(0, N)
    channel = batch * width + d
    a = tl.load(a_ptr + d[:, None] * N + n[None, :], mask=inside[:, None], other=0.0)
    skip = tl.load(d_ptr + d, mask=inside, other=0.0)
    bias = tl.load(bias_ptr + d, mask=inside, other=0.0)
    h = tl.load(state_ptr + channel[:, None] * N + n[None, :], mask=inside[:, None], other=0.0)
    for t in range(L):
        u = tl.load(u_ptr + channel * L + t, mask=inside, other=0.0).to(tl.float32)
        dt = tl.load(delta_ptr + channel * L + t, mask=inside, other=0.0).to(tl.float32) + bias
        dt = libdevice.log1p(tl.exp(dt))
        b = tl.load(b_ptr + (batch * N + n) * L + t).to(tl.float32)
        c = tl.load(c_ptr + (batch * N + n) * L + t).to(tl.float32)
        h = tl.exp(dt[:, None] * a) * h + (dt * u)[:, None] * b[None, :]
        z = tl.load(z_ptr + channel * L + t, mask=inside, other=0.0).to(tl.float32)
        y = (tl.sum(h * c[None, :], 1) + skip * u) * z / (1.0 + tl.exp(-z))
        tl.store(out_ptr + channel * L + t, y.to(tl.bfloat16), mask=inside)
    tl.store(after_ptr + channel[:, None] * N + n[None, :], h, mask=inside[:, None])


def selective_scan(u, delta, A, B, C, D, z, delta_bias, state):
    (batch, width, L), N = u.shape, A.shape[1]
    out, after = torch.empty_like(u), torch.empty_like(state)
    grid = (triton.cdiv(width, 32), batch)
    scan_kernel[grid](u, delta, A, B, C, D, z, delta_bias, state, out, after, width, L, N=N, BLOCK=32)
    return out, after
