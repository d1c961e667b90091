"""A program has a channel: chunks of its time are scanned in parallel, all states at once, and loads and stores are of neighbours. What a chunk ends
with is where the next one begins."""

import torch
import triton
import triton.language as tl


@triton.jit
def joined(factor, h, later_factor, later_h):
    """Two stretches of steps as one."""
    return later_factor * factor, later_factor * h + later_h


@triton.jit
def scan_kernel(
    u_ptr, delta_ptr, a_ptr, b_ptr, c_ptr, d_ptr, z_ptr, bias_ptr, state_ptr, out_ptr, after_ptr, width, L,
    N: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    d, batch = tl.program_id(0), tl.program_id(1).to(tl.int64)
    channel = batch * width + d
    n, i = tl.arange(0, N), tl.arange(0, CHUNK)
    a = tl.load(a_ptr + d * N + n)[:, None] * 1.4426950408889634
    skip, bias = tl.load(d_ptr + d), tl.load(bias_ptr + d)
    h = tl.load(state_ptr + channel * N + n)
    for start in range(0, L, CHUNK):
        t = start + i
        inside = t < L
        u = tl.load(u_ptr + channel * L + t, mask=inside, other=0.0).to(tl.float32)
        x = tl.load(delta_ptr + channel * L + t, mask=inside, other=0.0).to(tl.float32) + bias
        # Of small numbers the sum with 1 keeps nothing; there softplus is its argument less half of its square.
        e = tl.exp(x)
        dt = tl.where(e < 0.0005, e - 0.5 * e * e, tl.log(1.0 + e))
        dt = tl.where(inside, dt, 0.0)
        at = (batch * N + n)[:, None] * L + t[None, :]
        b = tl.load(b_ptr + at, mask=inside[None, :], other=0.0).to(tl.float32)
        c = tl.load(c_ptr + at, mask=inside[None, :], other=0.0).to(tl.float32)
        factors, states = tl.associative_scan((tl.exp2(dt[None, :] * a), (dt * u)[None, :] * b), 1, joined)
        states += factors * h[:, None]
        h = tl.sum(tl.where((i == CHUNK - 1)[None, :], states, 0.0), 1)
        z = tl.load(z_ptr + channel * L + t, mask=inside, other=0.0).to(tl.float32)
        y = (tl.sum(states * c, 0) + skip * u) * z * tl.sigmoid(z)
        tl.store(out_ptr + channel * L + t, y.to(tl.bfloat16), mask=inside)
    tl.store(after_ptr + channel * N + n, h)


def selective_scan(u, delta, A, B, C, D, z, delta_bias, state):
    (batch, width, L), N = u.shape, A.shape[1]
    out, after = torch.empty_like(u), torch.empty_like(state)
    chunk = min(128, max(16, triton.next_power_of_2(L)))
    scan_kernel[(width, batch)](
        u, delta, A, B, C, D, z, delta_bias, state, out, after, width, L, N=N, CHUNK=chunk, num_warps=4
    )
    return out, after
