"""Average pooling of cosines: one grid axis for the signals, one for the places; the padding adds zeros, not cos(0)."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def cos_avg_pool1d_kernel(
    x_ptr, out_ptr, signals, length, places, kernel_size, stride, padding, channels, x_n, x_c, x_l,
    COUNT_PADDING: tl.constexpr, SIGNALS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    s = (tl.program_id(0) * SIGNALS + tl.arange(0, SIGNALS)).to(tl.int64)[:, None]
    o = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    signal = x_ptr + s // channels * x_n + s % channels * x_c
    total = tl.zeros((SIGNALS, BLOCK), tl.float32)
    for k in range(kernel_size):
        at = o * stride - padding + k
        mask = (s < signals) & (o < places) & (at >= 0) & (at < length)
        x = tl.load(signal + at.to(tl.int64) * x_l, mask=mask, other=0.0)
        total += tl.where(mask, libdevice.cos(x), 0.0)
    first = o * stride - padding
    end = tl.minimum(first + kernel_size, length + padding)
    if not COUNT_PADDING:
        first, end = tl.maximum(first, 0), tl.minimum(end, length)
    mask = (s < signals) & (o < places)
    tl.store(out_ptr + s * places + o, total / tl.maximum(end - first, 1), mask=mask)


def fused_cos_avg_pool1d(
    input: torch.Tensor,
    kernel_size: int,
    stride: int = None,
    padding: int = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> torch.Tensor:
    stride = stride or kernel_size
    N, C, length = input.shape
    room = length + 2 * padding - kernel_size
    places = (triton.cdiv(room, stride) if ceil_mode else room // stride) + 1
    if ceil_mode and (places - 1) * stride >= length + padding:
        places -= 1
    out = torch.empty((N, C, places), dtype=input.dtype, device=input.device)
    if out.numel():
        block = min(triton.next_power_of_2(places), 1024)
        tile = min(triton.next_power_of_2(N * C), max(1, 1024 // block))
        cos_avg_pool1d_kernel[(triton.cdiv(N * C, tile), triton.cdiv(places, block))](
            input, out, N * C, length, places, kernel_size, stride, padding, C, *input.stride(),
            COUNT_PADDING=count_include_pad, SIGNALS=tile, BLOCK=block,
        )  # fmt: skip
    return out
