"""A persistent kernel: as many programs as the device has multiprocessors, each loops over its share of the tiles.

style: persistent
"""

import functools

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, tiles, TANH: tl.constexpr, BLOCK: tl.constexpr):
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        offsets = tile.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
        if TANH:
            y = x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
        else:
            y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
        tl.store(out_ptr + offsets, y, mask=mask)


@functools.lru_cache(maxsize=None)
def multiprocessors(device):
    """How many programs fill ``device``; asked once, because the answer never changes."""
    if device.type != "cuda":
        return 2
    return torch.cuda.get_device_properties(device).multi_processor_count


def gelu(input, approximate="none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n == 0:
        return out
    tiles = triton.cdiv(n, 1024)
    grid = (min(tiles, 4 * multiprocessors(x.device)),)
    gelu_kernel[grid](x, out, n, tiles, TANH=approximate == "tanh", BLOCK=1024)
    return out
