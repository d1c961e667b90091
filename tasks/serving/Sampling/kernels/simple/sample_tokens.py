"""A program a row. Limits of top-k and top-p are found by halving the range of the logits until no float32 lies between. A last pass draws: the largest of a logit and
a Gumbel variate."""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["seed"])
def sample_kernel(logits_ptr, temperature_ptr, k_ptr, p_ptr, m_ptr, out_ptr, seed, V, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    temperature = tl.load(temperature_ptr + row)
    k = tl.load(k_ptr + row)
    wanted = tl.load(p_ptr + row)
    least_share = tl.load(m_ptr + row)
    top = float("-inf")
    bottom = float("inf")
    for begin in range(0, V, BLOCK):
        i = begin + tl.arange(0, BLOCK)
        z = tl.load(logits_ptr + row * V + i, mask=i < V, other=0.0) / temperature
        top = tl.maximum(top, tl.max(tl.where(i < V, z, float("-inf")), 0))
        bottom = tl.minimum(bottom, tl.min(tl.where(i < V, z, float("inf")), 0))
    # Fewer than k tokens lie at or above `high`, and at least k at or above `low`.
    low, high = bottom, top + tl.abs(top) * 1e-6 + 1e-6
    if k < V:
        for _ in range(40):
            middle = low + (high - low) * 0.5
            count = 0
            for begin in range(0, V, BLOCK):
                i = begin + tl.arange(0, BLOCK)
                z = tl.load(logits_ptr + row * V + i, mask=i < V, other=0.0) / temperature
                count += tl.sum(((i < V) & (z >= middle)).to(tl.int32), 0)
            low = tl.where(count >= k, middle, low)
            high = tl.where(count >= k, high, middle)
    by_k = low
    whole = 0.0
    for begin in range(0, V, BLOCK):
        i = begin + tl.arange(0, BLOCK)
        z = tl.load(logits_ptr + row * V + i, mask=i < V, other=0.0) / temperature
        whole += tl.sum(tl.where((i < V) & (z >= by_k), tl.exp(z - top), 0.0), 0)
    high = top + tl.abs(top) * 1e-6 + 1e-6
    if wanted < 1.0:
        for _ in range(40):
            middle = low + (high - low) * 0.5
            found = 0.0
            for begin in range(0, V, BLOCK):
                i = begin + tl.arange(0, BLOCK)
                z = tl.load(logits_ptr + row * V + i, mask=i < V, other=0.0) / temperature
                found += tl.sum(tl.where((i < V) & (z >= middle), tl.exp(z - top), 0.0), 0)
            low = tl.where(found >= wanted * whole, middle, low)
            high = tl.where(found >= wanted * whole, high, middle)
    best = float("-inf")
    token = 0
    for begin in range(0, V, BLOCK):
        i = begin + tl.arange(0, BLOCK)
        z = tl.load(logits_ptr + row * V + i, mask=i < V, other=0.0) / temperature
        kept = (i < V) & (z >= low) & (tl.exp(z - top) >= least_share)
        number = tl.rand(seed, (row * V + i).to(tl.int32))
        race = tl.where(kept, z - tl.log(-tl.log(number + 1e-10) + 1e-10), float("-inf"))
        first = tl.max(race, 0)
        place = tl.argmax(race, 0)
        token = tl.where(first > best, begin + place, token)
        best = tl.maximum(best, first)
    tl.store(out_ptr + row, token.to(tl.int64))


def sample_tokens(logits, temperature, top_k, top_p, min_p):
    B, V = logits.shape
    out = torch.empty(B, dtype=torch.int64, device=logits.device)
    seed = int(torch.randint(1 << 31, (1,)))
    block = min(1024, triton.next_power_of_2(V))
    sample_kernel[(B,)](logits, temperature, top_k, top_p, min_p, out, seed, V, BLOCK=block)
    return out
