"""One program has some tokens in registers, a row for each group of experts: two maxima a group, then the best groups, then the best experts, largest after
largest."""

import torch
import triton
import triton.language as tl


@triton.jit
def routing_kernel(
    logits_ptr, bias_ptr, weights_ptr, experts_ptr, scale, T, EXPERTS, G, EACH,
    K: tl.constexpr, WIDTH: tl.constexpr, BEST: tl.constexpr,
    TOKENS: tl.constexpr, GROUPS: tl.constexpr, MEMBERS: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    group, member = tl.arange(0, GROUPS), tl.arange(0, MEMBERS)
    expert = group[:, None] * EACH + member[None, :]
    known = (group < G)[:, None] & (member < EACH)[None, :]
    at = token[:, None, None].to(tl.int64) * EXPERTS + expert[None, :, :]
    mask = (token < T)[:, None, None] & known[None, :, :]
    share = tl.sigmoid(tl.load(logits_ptr + at, mask=mask, other=0.0))
    bias = tl.load(bias_ptr + expert, mask=known, other=0.0)
    choice = tl.where(known[None, :, :], share + bias[None, :, :], float("-inf"))
    first, place = tl.max(choice, 2, return_indices=True)
    others = tl.where(member[None, None, :] == place[:, :, None], float("-inf"), choice)
    second = tl.max(others, 2)
    score = tl.where(EACH > 1, first + second, first)
    score = tl.where((group < G)[None, :], score, float("-inf"))
    kept = tl.zeros((TOKENS, GROUPS), tl.int32)
    for _ in tl.static_range(BEST):
        best = tl.argmax(score, 1)
        hit = group[None, :] == best[:, None]
        kept = tl.where(hit, 1, kept)
        score = tl.where(hit, float("-inf"), score)
    choice = tl.where(kept[:, :, None] != 0, choice, float("-inf"))
    choice = tl.reshape(choice, (TOKENS, GROUPS * MEMBERS))
    share = tl.reshape(share, (TOKENS, GROUPS * MEMBERS))
    lane = tl.arange(0, GROUPS * MEMBERS)[None, :]
    slot = tl.arange(0, WIDTH)[None, :]
    values = tl.zeros((TOKENS, WIDTH), tl.float32)
    chosen = tl.zeros((TOKENS, WIDTH), tl.int32)
    for i in tl.static_range(K):
        place = tl.argmax(choice, 1)
        hit = lane == place[:, None]
        values = tl.where(slot == i, tl.sum(tl.where(hit, share, 0.0), 1)[:, None], values)
        number = place // MEMBERS * EACH + place % MEMBERS
        chosen = tl.where(slot == i, number[:, None], chosen)
        choice = tl.where(hit, float("-inf"), choice)
    to = token[:, None].to(tl.int64) * K + slot
    mask_out = (token < T)[:, None] & (slot < K)
    tl.store(weights_ptr + to, values * (scale / tl.sum(values, 1))[:, None], mask=mask_out)
    tl.store(experts_ptr + to, chosen, mask=mask_out)


def grouped_routing(logits, bias, k: int, groups: int, best: int, scale: float):
    T, E = logits.shape
    weights = torch.empty((T, k), dtype=torch.float32, device=logits.device)
    experts = torch.empty((T, k), dtype=torch.int32, device=logits.device)
    rows, members = triton.next_power_of_2(groups), triton.next_power_of_2(E // groups)
    tokens = max(1, 1024 // (rows * members))
    routing_kernel[(triton.cdiv(T, tokens),)](
        logits, bias, weights, experts, scale, T, E, groups, E // groups,
        K=k, WIDTH=triton.next_power_of_2(k), BEST=best, TOKENS=tokens, GROUPS=rows, MEMBERS=members, num_warps=4,
    )  # fmt: skip
    return weights, experts
