"""Three kernels, none of which needs atomics: `delta`; gradients of keys and values, a program for each block of keys, over all query heads of
its group; gradients of queries, a program for each block of queries. Blocks that are hidden altogether are left out, and only those on the
diagonal are masked."""

import torch
import triton
import triton.language as tl


@triton.jit
def delta_kernel(out_ptr, do_ptr, delta_ptr, rows, D: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = row.to(tl.int64)[:, None] * D + tl.arange(0, D)[None, :]
    out = tl.load(out_ptr + at, mask=(row < rows)[:, None], other=0.0).to(tl.float32)
    do = tl.load(do_ptr + at, mask=(row < rows)[:, None], other=0.0).to(tl.float32)
    tl.store(delta_ptr + row, tl.sum(out * do, 1), mask=row < rows)


@triton.jit
def keys_of_queries(
    dk, dv, k, v, q_ptr, do_ptr, lse_ptr, delta_ptr, columns, first, last, S, scale, log2e,
    D: tl.constexpr, BLOCK_M: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Adds what queries from `first` to `last` give."""
    for start in range(first, last, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        at = rows[:, None] * D + tl.arange(0, D)[None, :]
        q = tl.load(q_ptr + at, mask=(rows < S)[:, None], other=0.0)
        do = tl.load(do_ptr + at, mask=(rows < S)[:, None], other=0.0)
        lse = tl.load(lse_ptr + rows, mask=rows < S, other=float("inf"))
        delta = tl.load(delta_ptr + rows, mask=rows < S, other=0.0)
        p = tl.exp2(tl.dot(k, tl.trans(q)) * (scale * log2e) - (lse * log2e)[None, :])
        if MASKED:
            p = tl.where(columns[:, None] <= rows[None, :], p, 0.0)
        dv = tl.dot(p.to(tl.bfloat16), do, dv)
        ds = p * (tl.dot(v, tl.trans(do)) - delta[None, :])
        dk = tl.dot(ds.to(tl.bfloat16), q, dk)
    return dk, dv


@triton.jit
def keys_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, S, heads_k, groups, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    log2e: tl.constexpr = 1.4426950408889634
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    of_keys = tl.program_id(1).to(tl.int64)
    at = of_keys * S * D + columns[:, None] * D + tl.arange(0, D)[None, :]
    k = tl.load(k_ptr + at, mask=(columns < S)[:, None], other=0.0)
    v = tl.load(v_ptr + at, mask=(columns < S)[:, None], other=0.0)
    dk, dv = tl.zeros((BLOCK_N, D), tl.float32), tl.zeros((BLOCK_N, D), tl.float32)
    first = tl.program_id(0) * BLOCK_N
    for group in range(groups):
        head = of_keys * groups + group
        dk, dv = keys_of_queries(
            dk, dv, k, v, q_ptr + head * S * D, do_ptr + head * S * D, lse_ptr + head * S, delta_ptr + head * S,
            columns, first, tl.minimum(first + BLOCK_N, S), S, scale, log2e, D, BLOCK_M, True,
        )  # fmt: skip
        dk, dv = keys_of_queries(
            dk, dv, k, v, q_ptr + head * S * D, do_ptr + head * S * D, lse_ptr + head * S, delta_ptr + head * S,
            columns, first + BLOCK_N, S, S, scale, log2e, D, BLOCK_M, False,
        )  # fmt: skip
    tl.store(dk_ptr + at, (dk * scale).to(tl.bfloat16), mask=(columns < S)[:, None])
    tl.store(dv_ptr + at, dv.to(tl.bfloat16), mask=(columns < S)[:, None])


@triton.jit
def queries_of_keys(
    dq, q, do, lse, delta, k_ptr, v_ptr, rows, first, last, S, scale, log2e,
    D: tl.constexpr, BLOCK_N: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Adds what keys from `first` to `last` give."""
    for start in range(first, last, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        at = columns[:, None] * D + tl.arange(0, D)[None, :]
        k = tl.load(k_ptr + at, mask=(columns < S)[:, None], other=0.0)
        v = tl.load(v_ptr + at, mask=(columns < S)[:, None], other=0.0)
        p = tl.exp2(tl.dot(q, tl.trans(k)) * (scale * log2e) - (lse * log2e)[:, None])
        if MASKED:
            p = tl.where(columns[None, :] <= rows[:, None], p, 0.0)
        ds = p * (tl.dot(do, tl.trans(v)) - delta[:, None])
        dq = tl.dot(ds.to(tl.bfloat16), k, dq)
    return dq


@triton.jit
def queries_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr, S, groups, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    log2e: tl.constexpr = 1.4426950408889634
    # The last blocks see most keys: they begin first.
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    head = tl.program_id(1).to(tl.int64)
    at = head * S * D + rows[:, None] * D + tl.arange(0, D)[None, :]
    q = tl.load(q_ptr + at, mask=(rows < S)[:, None], other=0.0)
    do = tl.load(do_ptr + at, mask=(rows < S)[:, None], other=0.0)
    lse = tl.load(lse_ptr + head * S + rows, mask=rows < S, other=float("inf"))
    delta = tl.load(delta_ptr + head * S + rows, mask=rows < S, other=0.0)
    k_ptr += head // groups * S * D
    v_ptr += head // groups * S * D
    dq = tl.zeros((BLOCK_M, D), tl.float32)
    dq = queries_of_keys(
        dq, q, do, lse, delta, k_ptr, v_ptr, rows, 0, first, S, scale, log2e, D, BLOCK_N, False
    )  # fmt: skip
    dq = queries_of_keys(
        dq, q, do, lse, delta, k_ptr, v_ptr, rows, first, tl.minimum(first + BLOCK_M, S), S, scale, log2e,
        D, BLOCK_N, True,
    )  # fmt: skip
    tl.store(dq_ptr + at, (dq * scale).to(tl.bfloat16), mask=(rows < S)[:, None])


def attention_backward(grad_out, q, k, v, out, lse):
    (B, heads, S, D), heads_k = q.shape, k.shape[1]
    groups, scale = heads // heads_k, D**-0.5
    delta = torch.empty_like(lse)
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    delta_kernel[(triton.cdiv(B * heads * S, 64),)](out, grad_out, delta, B * heads * S, D=D, BLOCK=64)
    wide = 128 if S > 256 else 32
    keys_kernel[(triton.cdiv(S, wide), B * heads_k)](
        q, k, v, grad_out, lse, delta, dk, dv, S, heads_k, groups, scale,
        D=D, BLOCK_M=32, BLOCK_N=wide, num_warps=8 if wide == 128 else 4, num_stages=3,
    )  # fmt: skip
    queries_kernel[(triton.cdiv(S, wide), B * heads)](
        q, k, v, grad_out, lse, delta, dq, S, groups, scale,
        D=D, BLOCK_M=wide, BLOCK_N=32, num_warps=8 if wide == 128 else 4, num_stages=3,
    )  # fmt: skip
    return dq, dk, dv
