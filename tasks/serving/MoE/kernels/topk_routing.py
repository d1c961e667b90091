"""One program has a block of tokens in registers, with all their experts, and takes out the largest `k` times."""

import torch
import triton
import triton.language as tl


@triton.jit
def topk_routing_kernel(
    logits_ptr, weights_ptr, experts_ptr, T, E,
    K: tl.constexpr, WIDTH: tl.constexpr, TOKENS: tl.constexpr, EXPERTS: tl.constexpr, RENORMALIZE: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    expert = tl.arange(0, EXPERTS)[None, :]
    at = logits_ptr + token[:, None].to(tl.int64) * E + expert
    logits = tl.load(at, mask=(token < T)[:, None] & (expert < E), other=float("-inf"))
    logits = tl.where((token < T)[:, None], logits, 0.0)
    top = tl.max(logits, 1)
    whole = tl.sum(tl.exp(logits - top[:, None]), 1)
    slot = tl.arange(0, WIDTH)[None, :]
    values = tl.zeros((TOKENS, WIDTH), tl.float32)
    chosen = tl.zeros((TOKENS, WIDTH), tl.int32)
    for i in tl.static_range(K):
        largest, place = tl.max(logits, 1, return_indices=True)
        values = tl.where(slot == i, tl.exp(largest - top)[:, None], values)
        chosen = tl.where(slot == i, place[:, None], chosen)
        logits = tl.where(expert == place[:, None], float("-inf"), logits)
    if RENORMALIZE:
        whole = tl.sum(values, 1)
    to = token[:, None].to(tl.int64) * K + slot
    mask = (token < T)[:, None] & (slot < K)
    tl.store(weights_ptr + to, values / whole[:, None], mask=mask)
    tl.store(experts_ptr + to, chosen, mask=mask)


def topk_routing(logits, k: int, renormalize: bool = True):
    T, E = logits.shape
    weights = torch.empty((T, k), dtype=torch.float32, device=logits.device)
    experts = torch.empty((T, k), dtype=torch.int32, device=logits.device)
    width = triton.next_power_of_2(E)
    tokens = max(1, min(64, 1024 // width))
    topk_routing_kernel[(triton.cdiv(T, tokens),)](
        logits, weights, experts, T, E, K=k, WIDTH=triton.next_power_of_2(k), TOKENS=tokens, EXPERTS=width,
        RENORMALIZE=renormalize, num_warps=4,
    )  # fmt: skip
    return weights, experts
