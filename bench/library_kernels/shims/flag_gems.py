"""What FlagGems' kernels import of its runtime: no configuration files, vendors or generated modules."""

import itertools
import logging

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice as tl_extra_shim  # noqa: F401


class flag_gems:
    vendor_name = "nvidia"


logger = logging.getLogger(__name__)
torch_device_fn = torch.cuda
device = "cuda" if torch.cuda.is_available() else "cpu"
DEVICE_COUNT = max(1, torch.cuda.device_count())
major_version, minor_version = 3, 6
"""FlagGems launches by the version of Triton, of which it knows those up to 3.6; 3.7 launches as 3.6 does."""


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
            case "bmm":
                return _configs([4, 8], [2, 3], TILE_M=[64, 128], TILE_N=[64, 128], TILE_K=[32], GROUP_M=[1, 2])
            case "mv":
                return _configs([4, 8], [2], BLOCK_N=[16, 64], BLOCK_M=[128, 512])
            case "batch_norm" | "layer_norm_persistent":
                return _configs([4, 8, 16], [1])
            case "layer_norm_loop":
                return _configs([4, 8, 16], [1], TILE_N=[1024, 2048, 4096, 8192])
            case "cross_entropy_loss":
                return _configs([4], [1], BLOCK_C=[256, 512, 1024], BLOCK_D=[1, 4, 16])
            case "attention":
                return _configs([4, 8], [2, 3], BLOCK_M=[64, 128], BLOCK_N=[32, 64], PRE_LOAD_V=[0])
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


def _batch_norm_rows(args):
    return min(2048, triton.next_power_of_2(args["batch_dim"]))


def _batch_norm_columns(args):
    return min(triton.next_power_of_2(args["spatial_dim"]), max(1, 2**14 // _batch_norm_rows(args)))


HEURISTICS_CONFIGS = {
    "softmax_inner": _INNER,
    "argmax_inner": _INNER,
    "softmax_backward_inner": {"TILE_M": lambda args: 4, "TILE_N": _tile},
    "softmax_non_inner": _NON_INNER,
    "mean_non_inner": _NON_INNER,
    "argmax_non_inner": _NON_INNER,
    "batch_norm": {"BLOCK_M": _batch_norm_rows, "BLOCK_N": _batch_norm_columns},
    "bmm": {
        "DIVISIBLE_M": lambda args: args["M"] % args["TILE_M"] == 0,
        "DIVISIBLE_N": lambda args: args["N"] % args["TILE_N"] == 0,
        "DIVISIBLE_K": lambda args: args["K"] % args["TILE_K"] == 0,
    },
    "rand": {
        "BLOCK": lambda args: 512 if args["N"] <= 512 else 1024,
        "num_warps": lambda args: 4 if args["N"] <= 512 else 8 if args["N"] <= 1024 else 16,
    },
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


@triton.jit(do_not_specialize=["s", "t"])
def _pointwise_kernel_of_several(a, b, c, s, t, out, n, F: tl.constexpr, TENSORS: tl.constexpr, BLOCK: tl.constexpr):
    """TENSORS: a 1 for each argument of F that is a tensor and a 0 for each number, after a leading 1."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=i < n)
    if TENSORS == 0b111:
        value = F(x, tl.load(b + i, mask=i < n))
    elif TENSORS == 0b110:
        value = F(x, s)
    elif TENSORS == 0b101:
        value = F(s, x)
    elif TENSORS == 0b1111:
        value = F(x, tl.load(b + i, mask=i < n), tl.load(c + i, mask=i < n))
    elif TENSORS == 0b1110:
        value = F(x, tl.load(b + i, mask=i < n), s)
    elif TENSORS == 0b1100:
        value = F(x, s, t)
    else:
        value = F(s, x, t)
    tl.store(out + i, value.to(out.dtype.element_ty), mask=i < n)


def _dtype_of_result(arguments, method):
    *which, kind = method
    if kind == "ALWAYS_BOOL":
        return torch.bool
    dtype = torch.result_type(arguments[which[0]], arguments[which[-1]])
    return torch.float32 if kind == "INT_TO_FLOAT" and not dtype.is_floating_point else dtype


class _Pointwise:
    def __init__(self, function, methods, is_tensor):
        self._function, self._method, self._is_tensor = function, methods[0], is_tensor

    def instantiate(self, dimensions):
        """FlagGems writes and imports a module here."""

    def __call__(self, *arguments, out0=None):
        is_tensor = self._is_tensor or [True] * len(arguments)
        tensors = [a for a, wanted in zip(arguments, is_tensor, strict=True) if wanted]
        numbers = [a for a, wanted in zip(arguments, is_tensor, strict=True) if not wanted]
        shape = torch.broadcast_shapes(*(t.shape for t in tensors))
        tensors = [t.expand(shape).contiguous() for t in tensors]
        out = torch.empty(shape, dtype=_dtype_of_result(arguments, self._method), device=tensors[0].device)
        if out0 is not None and out0.is_contiguous():
            out = out0
        n = out.numel()
        if n and len(arguments) == 1:
            _pointwise_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](*tensors, out, n, self._function)
        elif n:
            tensors, numbers = (tensors + tensors[:1] * 2)[:3], (numbers + [0, 0])[:2]
            code = int("".join("01"[wanted] for wanted in [True, *is_tensor]), 2)
            _pointwise_kernel_of_several[(triton.cdiv(n, 1024),)](
                *tensors, *numbers, out, n, self._function, code, BLOCK=1024
            )
        return out if out0 is None or out is out0 else out0.copy_(out)


def pointwise_dynamic(promotion_methods=None, is_tensor=None, dtypes=None, **options):
    """FlagGems writes a module for each number of dimensions, and reads tensors through their strides."""
    return lambda function: _Pointwise(function, promotion_methods, is_tensor)
