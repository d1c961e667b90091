"""Average pooling: one grid axis for the signals, one for the positions. Zeros of the padding count in the mean.

style: grid2d
"""

import torch
import triton
import triton.language as tl


@triton.jit
def avg_pool1d_kernel(
    x_ptr, out_ptr, signals, length, out_length, kernel_size, stride, padding, x_s, x_l,
    SIGNALS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    s = (tl.program_id(0) * SIGNALS + tl.arange(0, SIGNALS)).to(tl.int64)[:, None]
    o = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    total = tl.zeros((SIGNALS, BLOCK), tl.float32)
    for k in range(kernel_size):
        at = o * stride - padding + k
        mask = (s < signals) & (o < out_length) & (at >= 0) & (at < length)
        total += tl.load(x_ptr + s * x_s + at * x_l, mask=mask, other=0.0).to(tl.float32)
    mask = (s < signals) & (o < out_length)
    tl.store(out_ptr + s * out_length + o, total / kernel_size, mask=mask)


def single(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def avg_pool1d(input, kernel_size, stride=None, padding=0):
    kernel_size, padding = single(kernel_size), single(padding)
    stride = single(stride) if stride else kernel_size
    length = input.shape[-1]
    out_length = (length + 2 * padding - kernel_size) // stride + 1
    x = input.reshape(-1, length) if input.numel() else input.new_empty(0, length)
    out = torch.empty(*input.shape[:-1], out_length, dtype=input.dtype, device=input.device)
    if out.numel():
        block = min(triton.next_power_of_2(out_length), 1024)
        tile = min(triton.next_power_of_2(x.shape[0]), max(1, 2048 // block))
        avg_pool1d_kernel[(triton.cdiv(x.shape[0], tile), triton.cdiv(out_length, block))](
            x, out, x.shape[0], length, out_length, kernel_size, stride, padding, *x.stride(),
            SIGNALS=tile, BLOCK=block,
        )  # fmt: skip
    return out
