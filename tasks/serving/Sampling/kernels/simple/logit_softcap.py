"""Element by element, with the library's tanh."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def softcap_kernel(logits_ptr, out_ptr, count, cap, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(logits_ptr + i, mask=i < count, other=0.0).to(tl.float32)
    tl.store(out_ptr + i, cap * libdevice.tanh(x / cap), mask=i < count)


def logit_softcap(logits, cap: float):
    out = torch.empty(logits.shape, dtype=torch.float32, device=logits.device)
    count = logits.numel()
    softcap_kernel[(triton.cdiv(count, 1024),)](logits, out, count, cap, BLOCK=1024)
    return out
