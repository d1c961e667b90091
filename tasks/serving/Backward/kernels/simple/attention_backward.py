"""Two kernels, of 32 keys and of 32 queries a program, which go over everything and mask what is hidden."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile(q, k, v, do, out, lse, rows, columns, S, scale):
    """Probabilities and the gradients of scores, of queries by keys."""
    shown = (columns[None, :] <= rows[:, None]) & (rows < S)[:, None]
    p = tl.where(shown, tl.exp(tl.dot(q, tl.trans(k)) * scale - lse[:, None]), 0.0)
    delta = tl.sum(do.to(tl.float32) * out.to(tl.float32), 1)
    return p, p * (tl.dot(do, tl.trans(v)) - delta[:, None])


@triton.jit
def keys_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    out_ptr,
    lse_ptr,
    dk_ptr,
    dv_ptr,
    S,
    groups,
    scale,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    head_k, d = tl.program_id(1).to(tl.int64), tl.arange(0, D)
    at_k = (head_k * S + columns)[:, None] * D + d[None, :]
    k = tl.load(k_ptr + at_k, mask=(columns < S)[:, None], other=0.0)
    v = tl.load(v_ptr + at_k, mask=(columns < S)[:, None], other=0.0)
    dk, dv = tl.zeros((BLOCK, D), tl.float32), tl.zeros((BLOCK, D), tl.float32)
    for group in range(groups):
        head = head_k * groups + group
        for start in range(0, S, BLOCK):
            rows = start + tl.arange(0, BLOCK)
            at = (head * S + rows)[:, None] * D + d[None, :]
            q = tl.load(q_ptr + at, mask=(rows < S)[:, None], other=0.0)
            do = tl.load(do_ptr + at, mask=(rows < S)[:, None], other=0.0)
            out = tl.load(out_ptr + at, mask=(rows < S)[:, None], other=0.0)
            lse = tl.load(lse_ptr + head * S + rows, mask=rows < S, other=0.0)
            p, ds = tile(q, k, v, do, out, lse, rows, columns, S, scale)
            dv = tl.dot(tl.trans(p.to(tl.bfloat16)), do, dv)
            dk = tl.dot(tl.trans(ds.to(tl.bfloat16)), q, dk)
    tl.store(dk_ptr + at_k, (dk * scale).to(tl.bfloat16), mask=(columns < S)[:, None])
    tl.store(dv_ptr + at_k, dv.to(tl.bfloat16), mask=(columns < S)[:, None])


@triton.jit
def queries_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, out_ptr, lse_ptr, dq_ptr, S, groups, scale, D: tl.constexpr, BLOCK: tl.constexpr
):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    head, d = tl.program_id(1).to(tl.int64), tl.arange(0, D)
    at = (head * S + rows)[:, None] * D + d[None, :]
    q = tl.load(q_ptr + at, mask=(rows < S)[:, None], other=0.0)
    do = tl.load(do_ptr + at, mask=(rows < S)[:, None], other=0.0)
    out = tl.load(out_ptr + at, mask=(rows < S)[:, None], other=0.0)
    lse = tl.load(lse_ptr + head * S + rows, mask=rows < S, other=0.0)
    dq = tl.zeros((BLOCK, D), tl.float32)
    for start in range(0, S, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        at_k = (head // groups * S + columns)[:, None] * D + d[None, :]
        k = tl.load(k_ptr + at_k, mask=(columns < S)[:, None], other=0.0)
        v = tl.load(v_ptr + at_k, mask=(columns < S)[:, None], other=0.0)
        p, ds = tile(q, k, v, do, out, lse, rows, columns, S, scale)
        dq = tl.dot(ds.to(tl.bfloat16), k, dq)
    tl.store(dq_ptr + at, (dq * scale).to(tl.bfloat16), mask=(rows < S)[:, None])


def attention_backward(grad_out, q, k, v, out, lse):
    (B, heads, S, D), heads_k = q.shape, k.shape[1]
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    groups, scale, blocks = heads // heads_k, D**-0.5, triton.cdiv(S, 32)
    keys_kernel[(blocks, B * heads_k)](q, k, v, grad_out, out, lse, dk, dv, S, groups, scale, D=D, BLOCK=32)
    queries_kernel[(blocks, B * heads)](q, k, v, grad_out, out, lse, dq, S, groups, scale, D=D, BLOCK=32)
    return dq, dk, dv
