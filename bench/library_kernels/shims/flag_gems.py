"""What FlagGems' kernels import of its runtime: no configuration files, vendors or generated modules."""

import itertools

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice as tl_extra_shim  # noqa: F401

torch_device_fn = torch.cuda


def libentry():
    return lambda kernel: kernel


def libtuner(configs, key, strategy=None, **options):
    return triton.autotune(configs=configs, key=key)


def _configs(warps, stages, **blocks):
    """All combinations, as the library's configuration files list them."""
    chosen = itertools.product(*blocks.values(), warps, stages)
    return [
        triton.Config(dict(zip(blocks, each, strict=False)), num_warps=each[-2], num_stages=each[-1]) for each in chosen
    ]


class runtime:
    @staticmethod
    def get_tuned_config(name):
        match name:
            case "mm" | "mm_self_transpose":
                return _configs([4, 8], [2, 3], BLOCK_M=[32, 64, 128], BLOCK_N=[32, 64, 128], BLOCK_K=[32, 64])
            case "addmm":
                return _configs(
                    [4, 8], [2, 3], BLOCK_SIZE_M=[32, 64, 128], BLOCK_SIZE_N=[32, 64], BLOCK_SIZE_K=[32, 64]
                )
            case "naive_reduction":
                return _configs([4, 8, 16], [1, 2], BLOCK_M=[1, 2, 4, 8], BLOCK_N=[256, 512, 1024])
            case "conv2d_forward":
                return _configs([4, 8], [2, 3], BLOCK_NI_HO_WO=[32, 64, 128], BLOCK_CO=[32, 64], BLOCK_CI=[16, 32])
            case _:
                return _configs([4, 8], [1], BLOCK_M=[1, 4, 8], BLOCK_N=[256, 512, 1024])

    @staticmethod
    def get_heuristic_config(name):
        return HEURISTICS_CONFIGS[name]


def _tile(args):
    return min(4096, triton.next_power_of_2(args["N"]))


_INNER = {
    "TILE_N": _tile,
    "ONE_TILE_PER_CTA": lambda args: args["TILE_N"] >= args["N"],
    "num_warps": lambda args: 8 if args["TILE_N"] > 1024 else 4,
}
_NON_INNER = {
    "TILE_K": lambda args: min(64, triton.next_power_of_2(args["K"])),
    "TILE_N": lambda args: min(max(1, 4096 // args["TILE_K"]), triton.next_power_of_2(args["N"])),
    "ONE_TILE_PER_CTA": lambda args: args["TILE_N"] >= args["N"],
    "num_warps": lambda args: 4,
}
HEURISTICS_CONFIGS = {
    "softmax_inner": _INNER,
    "argmax_inner": _INNER,
    "softmax_backward_inner": {"TILE_M": lambda args: 4, "TILE_N": _tile},
    "softmax_non_inner": _NON_INNER,
    "mean_non_inner": _NON_INNER,
    "argmax_non_inner": _NON_INNER,
    "softmax_backward_non_inner": _NON_INNER,
    "index_select": {"BLOCK_M": lambda args: 4, "BLOCK_N": lambda args: min(1024, triton.next_power_of_2(args["N"]))},
}

triton_lang_extension = tl
"""FlagGems' own program_id is one of 64 bits."""


@triton.autotune(configs=_configs([1, 2, 4, 8, 16], [1], BLOCK=[128, 256, 512, 1024, 2048, 4096]), key=["n"])
@triton.jit
def _pointwise_kernel(x, out, n, F: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = F(tl.load(x + i, mask=i < n))
    tl.store(out + i, value.to(out.dtype.element_ty), mask=i < n)


def pointwise_dynamic(promotion_methods=None, is_tensor=None, dtypes=None, **options):
    """Of functions of one tensor; FlagGems writes a module for each number of dimensions."""

    def decorator(function):
        def apply(x, *rest, out0=None):
            x = x.contiguous()
            real = x.is_floating_point() or promotion_methods[0][-1] != "INT_TO_FLOAT"
            out = torch.empty_like(x, dtype=x.dtype if real else torch.float32) if out0 is None else out0
            n = x.numel()
            if n:
                _pointwise_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n, function)
            return out

        return apply

    return decorator
