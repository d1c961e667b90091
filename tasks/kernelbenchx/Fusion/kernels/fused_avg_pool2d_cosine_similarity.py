"""Two kernels: the similarity of every pixel, in one walk over the channels, then the average of that map's windows."""

import torch
import triton
import triton.language as tl


@triton.jit
def similarity_kernel(
    x_ptr, y_ptr, out_ptr, n, C, H, W, eps, x_n, x_c, x_h, x_w, y_n, y_c, y_h, y_w,
    PIXELS: tl.constexpr, CHANNELS: tl.constexpr,
):  # fmt: skip
    p = (tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)).to(tl.int64)
    image, h, w = p // (H * W), p // W % H, p % W
    x_ptr += (image * x_n + h * x_h + w * x_w)[None, :]
    y_ptr += (image * y_n + h * y_h + w * y_w)[None, :]
    dot = tl.zeros((CHANNELS, PIXELS), tl.float32)
    x_square, y_square = dot, dot
    for start in range(0, C, CHANNELS):
        c = (start + tl.arange(0, CHANNELS)).to(tl.int64)[:, None]
        mask = (c < C) & (p < n)[None, :]
        x = tl.load(x_ptr + c * x_c, mask=mask, other=0.0)
        y = tl.load(y_ptr + c * y_c, mask=mask, other=0.0)
        dot += x * y
        x_square += x * x
        y_square += y * y
    x_norm = tl.maximum(tl.sqrt(tl.sum(x_square, 0)), eps)
    y_norm = tl.maximum(tl.sqrt(tl.sum(y_square, 0)), eps)
    tl.store(out_ptr + p, tl.sum(dot, 0) / x_norm / y_norm, mask=p < n)


@triton.jit
def avg_pool2d_kernel(map_ptr, out_ptr, n, H, W, OH, OW, kernel_size, stride, padding, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    image, top, left = (o // (OH * OW)).to(tl.int64), o // OW % OH * stride - padding, o % OW * stride - padding
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(kernel_size * kernel_size):
        h, w = top + k // kernel_size, left + k % kernel_size
        mask = (o < n) & (h >= 0) & (h < H) & (w >= 0) & (w < W)
        total += tl.load(map_ptr + (image * H + h) * W + w, mask=mask, other=0.0)
    tl.store(out_ptr + o, total / (kernel_size * kernel_size), mask=o < n)


def fused_avg_pool2d_cosine_similarity(
    x1: torch.Tensor, x2: torch.Tensor, kernel_size: int, stride: int = None, padding: int = 0, eps: float = 1e-08
) -> torch.Tensor:
    stride = stride or kernel_size
    N, C, H, W = x1.shape
    OH, OW = ((size + 2 * padding - kernel_size) // stride + 1 for size in (H, W))
    similarity = torch.empty((N, H, W), dtype=torch.float32, device=x1.device)
    out = torch.empty((N, 1, OH, OW), dtype=x1.dtype, device=x1.device)
    if out.numel():
        pixels = min(triton.next_power_of_2(similarity.numel()), 256)
        similarity_kernel[(triton.cdiv(similarity.numel(), pixels),)](
            x1, x2, similarity, similarity.numel(), C, H, W, eps, *x1.stride(), *x2.stride(),
            PIXELS=pixels, CHANNELS=min(triton.next_power_of_2(C), 8),
        )  # fmt: skip
        block = min(triton.next_power_of_2(out.numel()), 512)
        avg_pool2d_kernel[(triton.cdiv(out.numel(), block),)](
            similarity, out, out.numel(), H, W, OH, OW, kernel_size, stride, padding, BLOCK=block
        )
    return out
