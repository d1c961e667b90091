"""A program a token. An expert's place is the number of experts with larger logits, or equal ones and smaller numbers, and those in the first `k` places write themselves down."""

import torch
import triton
import triton.language as tl


@triton.jit
def topk_routing_kernel(logits_ptr, weights_ptr, experts_ptr, E, K, WIDTH: tl.constexpr, RENORMALIZE: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    expert = tl.arange(0, WIDTH)
    logits = tl.load(logits_ptr + token * E + expert, mask=expert < E, other=float("-inf"))
    place = tl.zeros((WIDTH,), tl.int32)
    for other in range(E):
        theirs = tl.load(logits_ptr + token * E + other)
        place += ((theirs > logits) | ((theirs == logits) & (other < expert))).to(tl.int32)
    share = tl.exp(logits - tl.max(logits, 0))
    chosen = (place < K) & (expert < E)
    total = tl.sum(tl.where(chosen, share, 0.0), 0) if RENORMALIZE else tl.sum(share, 0)
    tl.store(weights_ptr + token * K + place, share / total, mask=chosen)
    tl.store(experts_ptr + token * K + place, expert, mask=chosen)


def topk_routing(logits, k: int, renormalize: bool = True):
    T, E = logits.shape
    weights = torch.empty((T, k), dtype=torch.float32, device=logits.device)
    experts = torch.empty((T, k), dtype=torch.int32, device=logits.device)
    topk_routing_kernel[(T,)](logits, weights, experts, E, k, WIDTH=triton.next_power_of_2(E), RENORMALIZE=renormalize)
    return weights, experts
