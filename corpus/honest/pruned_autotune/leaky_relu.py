"""A dozen configurations, pruned before they are timed; the tuner restores nothing because every trial writes the same.

style: pruned_autotune
"""

import itertools

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BLOCK": block, "UNROLL": unroll}, num_warps=warps, num_stages=2)
    for block, unroll, warps in itertools.product((256, 512, 1024), (1, 2), (4, 8))
]


def drop_hopeless(configs, named_args, **kwargs):
    """Blocks that would leave most of a small tensor's lanes idle are not worth a trial."""
    n = named_args["n"]
    kept = [c for c in configs if c.kwargs["BLOCK"] * c.kwargs["UNROLL"] <= max(n, 256)]
    return kept or configs[:1]


def expected_time(BLOCK, UNROLL, num_warps, **kwargs):
    return 1.0 / (BLOCK * UNROLL * num_warps)


@triton.autotune(
    configs=CONFIGS,
    key=["n"],
    prune_configs_by={"early_config_prune": drop_hopeless, "perf_model": expected_time, "top_k": 4},
)
@triton.jit
def leaky_relu_kernel(x_ptr, out_ptr, slope, n, BLOCK: tl.constexpr, UNROLL: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * (BLOCK * UNROLL)
    for step in tl.static_range(UNROLL):
        offsets = first + step * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + offsets, tl.where(x >= 0, x, x * slope), mask=mask)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    x = input.contiguous()
    # never the input itself: a tuning run would read what the one before wrote
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        grid = lambda meta: (triton.cdiv(n, meta["BLOCK"] * meta["UNROLL"]),)  # noqa: E731
        leaky_relu_kernel[grid](x, out, float(negative_slope), n)
    return input.copy_(out) if inplace else out
