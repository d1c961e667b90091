"""Asks versions and modules what they have: hasattr, getattr, find_spec, __version__, a capability of the device.

style: feature_detection
"""

import importlib.util
import inspect

import torch
import triton
import triton.language as tl

TRITON_VERSION = tuple(int(part) for part in triton.__version__.split(".")[:2])
HAS_APEX = importlib.util.find_spec("apex") is not None
HAS_WARP_SPECIALIZE = "warp_specialize" in inspect.signature(tl.range.__init__).parameters
sigmoid = getattr(tl, "sigmoid", None) or tl.math.sigmoid
erf = tl.erf if hasattr(tl, "erf") else tl.math.erf
tf32 = getattr(getattr(torch.backends, "cuda", None), "matmul", None)


def is_hopper(device):
    return device.type == "cuda" and torch.cuda.get_device_capability(device)[0] == 9


@triton.jit
def sub_gelu_kernel(x_ptr, y_ptr, out_ptr, alpha, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    z = tl.load(x_ptr + i, mask=mask, other=0.0) - alpha * tl.load(y_ptr + i, mask=mask, other=0.0)
    if TANH:
        g = z * sigmoid(1.5957691216057308 * (z + 0.044715 * z * z * z))
    else:
        g = 0.5 * z * (1.0 + erf(z * 0.7071067811865476))
    tl.store(out_ptr + i, g, mask=mask)


def fused_sub_gelu(input, other, alpha=1, approximate="none", out=None):
    if not torch.is_tensor(other):
        other = input.new_full((), other)
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input, other))
    result = torch.empty_like(x) if out is None else out
    n = x.numel()
    if n:
        options = {"num_warps": 8 if is_hopper(x.device) else 4}
        if TRITON_VERSION >= (3, 0):
            options["num_stages"] = 2
        grid = (triton.cdiv(n, 1024),)
        sub_gelu_kernel[grid](x, y, result, float(alpha), n, TANH=approximate == "tanh", BLOCK=1024, **options)
    return result
