"""A program a token. The place of a group, and then of an expert, is the number of those with larger scores, or equal ones and smaller numbers."""

import torch
import triton
import triton.language as tl


@triton.jit
def routing_kernel(
    logits_ptr, bias_ptr, weights_ptr, experts_ptr, scale, E, G, EACH, K, BEST,
    WIDTH: tl.constexpr, GROUPS: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    expert, group = tl.arange(0, WIDTH), tl.arange(0, GROUPS)
    logits = tl.load(logits_ptr + token * E + expert, mask=expert < E, other=0.0)
    share = 1.0 / (1.0 + tl.exp(-logits))
    choice = share + tl.load(bias_ptr + expert, mask=expert < E, other=0.0)
    choice = tl.where(expert < E, choice, float("-inf"))
    score = tl.full((GROUPS,), float("-inf"), tl.float32)
    for g in range(G):
        mine = tl.where(expert // EACH == g, choice, float("-inf"))
        first = tl.max(mine, 0)
        second = tl.max(tl.where(expert == tl.argmax(mine, 0), float("-inf"), mine), 0)
        score = tl.where(group == g, tl.where(EACH > 1, first + second, first), score)
    for g in range(G):
        own = tl.max(tl.where(group == g, score, float("-inf")), 0)
        place = tl.sum(((score > own) | ((score == own) & (group < g))).to(tl.int32), 0)
        choice = tl.where((expert // EACH == g) & (place >= BEST), float("-inf"), choice)
    place = tl.zeros((WIDTH,), tl.int32)
    for other in range(E):
        theirs = tl.max(tl.where(expert == other, choice, float("-inf")), 0)
        place += ((theirs > choice) | ((theirs == choice) & (other < expert))).to(tl.int32)
    chosen = (place < K) & (choice > float("-inf"))
    total = tl.sum(tl.where(chosen, share, 0.0), 0)
    tl.store(weights_ptr + token * K + place, share / total * scale, mask=chosen)
    tl.store(experts_ptr + token * K + place, expert, mask=chosen)


def grouped_routing(logits, bias, k: int, groups: int, best: int, scale: float):
    T, E = logits.shape
    weights = torch.empty((T, k), dtype=torch.float32, device=logits.device)
    experts = torch.empty((T, k), dtype=torch.int32, device=logits.device)
    routing_kernel[(T,)](
        logits, bias, weights, experts, scale, E, groups, E // groups, k, best,
        WIDTH=triton.next_power_of_2(E), GROUPS=triton.next_power_of_2(groups),
    )  # fmt: skip
    return weights, experts
