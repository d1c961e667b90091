"""The tutorial's fused softmax: a row per step, as many programs as its registers and shared memory let run at once.

style: tutorial_occupancy
source: correctness-illusion
"""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(out_ptr, x_ptr, rows, cols, ACC: tl.constexpr, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        start = row.to(tl.int64) * cols
        offsets = tl.arange(0, BLOCK)
        mask = offsets < cols
        x = tl.load(x_ptr + start + offsets, mask=mask, other=-float("inf")).to(ACC)
        numerator = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + start + offsets, numerator / tl.sum(numerator, axis=0), mask=mask)


def programs_at_once(device, num_warps):
    """Estimated from warps alone where the device tells what a multiprocessor holds."""
    properties = torch.cuda.get_device_properties(device)
    warps = getattr(properties, "max_threads_per_multi_processor", 2048) // properties.warp_size
    return properties.multi_processor_count * max(1, warps // num_warps)


def softmax(input, dim, dtype=None):
    x = input.to(dtype or input.dtype).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if x.numel():
        cols = x.shape[-1]
        rows = x.numel() // cols
        num_warps = 4 if cols <= 4096 else 16
        grid = (min(rows, programs_at_once(x.device, num_warps)), 1, 1)
        acc = tl.float64 if x.dtype == torch.float64 else tl.float32
        softmax_kernel[grid](y, x, rows, cols, ACC=acc, BLOCK=triton.next_power_of_2(cols), num_warps=num_warps)
    return y.movedim(-1, dim).contiguous()


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["N"],
        x_vals=[128 * i for i in range(2, 100)],
        line_arg="provider",
        line_vals=["triton", "torch"],
        line_names=["Triton", "Torch"],
        ylabel="GB/s",
        plot_name="softmax-performance",
        args={"M": 4096},
    )
)
def benchmark(M, N, provider):
    x = torch.randn(M, N, device="cuda", dtype=torch.float32)
    run = {"torch": lambda: torch.softmax(x, axis=-1), "triton": lambda: softmax(x, -1)}[provider]
    ms = triton.testing.do_bench(run)
    return 2 * x.numel() * x.element_size() * 1e-9 / (ms * 1e-3)
