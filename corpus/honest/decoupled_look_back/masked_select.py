"""A scan in one pass: each program publishes its sum, then looks back over those before it until one knows its prefix.

style: decoupled_look_back
"""

import torch
import triton
import triton.language as tl


@triton.jit
def select_kernel(x_ptr, mask_ptr, ticket_ptr, state_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A program's state: 0 nothing yet, 4 · sum + 1 its own sum, 4 · sum + 2 the sum up to its end."""
    # a program waits only for those that took their tickets before it, which run
    block = tl.atomic_add(ticket_ptr, 1)
    i = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    chosen = tl.load(mask_ptr + i, mask=i < n, other=0) != 0
    ones = chosen.to(tl.int64)
    own = tl.sum(ones, 0)
    before = own * 0
    if block > 0:
        tl.atomic_xchg(state_ptr + block, own * 4 + 1, sem="release")
        back = block - 1
        while back >= 0:
            state = tl.atomic_add(state_ptr + back, 0, sem="acquire")
            kind = state % 4
            before += tl.where(kind == 0, 0, state // 4)
            back = tl.where(kind == 2, -1, tl.where(kind == 1, back - 1, back))
    tl.atomic_xchg(state_ptr + block, (before + own) * 4 + 2, sem="release")
    place = before + tl.cumsum(ones, 0) - ones
    tl.store(out_ptr + place, tl.load(x_ptr + i, mask=chosen), mask=chosen)


def masked_select(input, mask):
    x, mask = (t.contiguous() for t in torch.broadcast_tensors(input, mask))
    n = x.numel()
    if not n:
        return torch.empty(0, dtype=x.dtype, device=x.device)
    blocks = triton.cdiv(n, 1024)
    out = torch.empty(n, dtype=x.dtype, device=x.device)
    ticket = torch.zeros(1, dtype=torch.int32, device=x.device)
    states = torch.zeros(blocks, dtype=torch.int64, device=x.device)
    select_kernel[(blocks,)](x, mask.view(torch.uint8), ticket, states, out, n, BLOCK=1024)
    return out[: int(states[-1]) // 4].clone()
