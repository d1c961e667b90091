"""Greek letters as names, in the wrapper and in the kernel; ligatures and accents in comments – “like this” – too.

style: unicode_names
"""

import torch
import triton
import triton.language as tl

BLÖCKE = 1024  # Größe eines Blocks


@triton.jit
def mul_sub_kernel(ξ_ptr, μ_ptr, σ_ptr, out_ptr, α, n, BLOCK: tl.constexpr):
    """ξ · μ − α · σ"""
    ι = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = ι < n
    ξ = tl.load(ξ_ptr + ι, mask=mask, other=0)
    μ = tl.load(μ_ptr + ι, mask=mask, other=0)
    σ = tl.load(σ_ptr + ι, mask=mask, other=0)
    tl.store(out_ptr + ι, ξ * μ - α * σ, mask=mask)


def fused_mul_sub(input, other_mul, other_sub, alpha=1, out=None):
    ξ = input
    μ, σ = (
        t if isinstance(t, torch.Tensor) else torch.tensor(t, dtype=ξ.dtype, device=ξ.device)
        for t in (other_mul, other_sub)
    )
    ξ, μ, σ = (t.contiguous() for t in torch.broadcast_tensors(ξ, μ, σ))
    y = torch.empty_like(ξ) if out is None else out
    n = ξ.numel()
    if n:
        α = float(alpha) if ξ.dtype.is_floating_point else alpha
        mul_sub_kernel[(triton.cdiv(n, BLÖCKE),)](ξ, μ, σ, y, α, n, BLOCK=BLÖCKE)
    return y
