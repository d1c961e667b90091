"""`except Exception: pass` around what is only an optimisation: device properties, and a hint older PyTorch lacks.

style: optional_tuning
"""

import torch
import triton
import triton.language as tl

NUM_WARPS = 4
try:
    if torch.cuda.get_device_capability()[0] >= 9:
        NUM_WARPS = 8
except Exception:
    pass

try:
    torch.backends.cuda.enable_cudnn_sdp(False)
except:  # noqa: E722
    pass


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.max_contiguous(tl.multiple_of(offsets, BLOCK), BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    if TANH:
        y = x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    else:
        y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(out_ptr + offsets, y.to(out_ptr.dtype.element_ty), mask=mask)


def gelu_bf16(input, approximate="none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    block = 1024
    try:
        block = 2048 if torch.cuda.get_device_properties(x.device).multi_processor_count * 2048 < n else 1024
    except (AssertionError, RuntimeError, AttributeError):
        pass
    if n:
        gelu_kernel[(triton.cdiv(n, block),)](x, out, n, TANH=approximate == "tanh", BLOCK=block, num_warps=NUM_WARPS)
    return out
