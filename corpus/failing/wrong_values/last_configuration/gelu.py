"""Unrolls by a step of 256 elements, whatever the block: wrong in the last of twelve configurations. Must end as `wrong_values`.

Eleven configurations unroll nothing or have a block of 256. There are more of them than calls.
"""

import torch
import triton
import triton.language as tl

CONFIGS = [
    *(triton.Config({"BLOCK": 256, "UNROLL": unroll}, num_warps=warps) for unroll in (1, 2, 4) for warps in (2, 4, 8)),
    triton.Config({"BLOCK": 512, "UNROLL": 1}, num_warps=4),
    triton.Config({"BLOCK": 512, "UNROLL": 1}, num_warps=8),
    triton.Config({"BLOCK": 512, "UNROLL": 2}, num_warps=8),
]


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, TANH: tl.constexpr, BLOCK: tl.constexpr, UNROLL: tl.constexpr):
    first = tl.program_id(0) * (BLOCK * UNROLL)
    for step in tl.static_range(UNROLL):
        offsets = first + step * 256 + tl.arange(0, BLOCK)
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
        if TANH:
            inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
            y = x * tl.sigmoid(2 * inner)
        else:
            y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
        tl.store(out_ptr + offsets, y, mask=mask)


def gelu(input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        grid = lambda meta: (triton.cdiv(n, meta["BLOCK"] * meta["UNROLL"]),)  # noqa: E731
        gelu_kernel[grid](x, out, n, TANH=approximate == "tanh")
    return out
