"""Tokens in the order of their ids: a program adds up 32 neighbours in registers, and goes to memory where the id changes, so that a token
that is everywhere costs one atomic addition in 32."""

import torch
import triton
import triton.language as tl


@triton.jit
def runs_kernel(grad_ptr, ids_ptr, order_ptr, out_ptr, T, D, padding_idx, TOKENS: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * TOKENS
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < D
    current = tl.load(ids_ptr + first)
    total = tl.zeros((BLOCK,), tl.float32)
    for place in range(first, tl.minimum(first + TOKENS, T)):
        token = tl.load(ids_ptr + place)
        if token != current:
            tl.atomic_add(out_ptr + current * D + columns, total, mask=inside & (current != padding_idx), sem="relaxed")
            total = tl.zeros((BLOCK,), tl.float32)
            current = token
        row = tl.load(order_ptr + place)
        total += tl.load(grad_ptr + row * D + columns, mask=inside, other=0.0).to(tl.float32)
    tl.atomic_add(out_ptr + current * D + columns, total, mask=inside & (current != padding_idx), sem="relaxed")


def embedding_backward(grad_output, ids, num_embeddings, padding_idx=-1):
    T, D = grad_output.shape
    out = torch.zeros((num_embeddings, D), dtype=torch.float32, device=grad_output.device)
    ordered, order = torch.sort(ids)
    block = min(1024, max(32, triton.next_power_of_2(D)))
    grid = (triton.cdiv(T, 32), triton.cdiv(D, block))
    runs_kernel[grid](grad_output, ordered, order, out, T, D, padding_idx, TOKENS=32, BLOCK=block)
    return out
