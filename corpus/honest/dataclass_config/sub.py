"""The launch's settings are a frozen dataclass that knows its own grid; operands are broadcast by stride 0.

style: dataclass_config
"""

from dataclasses import dataclass, field, replace

import torch
import triton
import triton.language as tl


@triton.jit
def sub_kernel(x_ptr, y_ptr, out_ptr, alpha, n, BLOCK: tl.constexpr, INTEGER: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0)
    if INTEGER:
        difference = x - alpha * y
    else:
        difference = x.to(tl.float32) - alpha * y.to(tl.float32)
    tl.store(out_ptr + offsets, difference.to(out_ptr.dtype.element_ty), mask=mask)


@dataclass(frozen=True)
class LaunchConfig:
    block: int = 1024
    num_warps: int = 4
    extras: dict = field(default_factory=dict)

    def grid(self, n: int) -> tuple[int]:
        return ((n + self.block - 1) // self.block,)

    def for_size(self, n: int) -> "LaunchConfig":
        return replace(self, block=256) if n < 2048 else self


DEFAULT = LaunchConfig()


def sub(input, other, *, alpha=1, out=None):
    dtype = torch.result_type(input, other)
    other = torch.as_tensor(other, dtype=dtype, device=input.device)
    x, y = (t.to(dtype).contiguous() for t in torch.broadcast_tensors(input, other))
    result = torch.empty_like(x) if out is None else out
    n = x.numel()
    if n:
        config = DEFAULT.for_size(n)
        sub_kernel[config.grid(n)](
            x, y, result, alpha, n, BLOCK=config.block, INTEGER=not dtype.is_floating_point, num_warps=config.num_warps
        )
    return result
