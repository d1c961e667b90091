"""What a reference computes: the floating-point operations of its products, their precision, and whether all of them are needed.

A product of an m × k and a k × n matrix counts 2mkn, the others as ``torch.utils.flop_counter`` has them. Operations with a few
steps for each element they read or write, transcendental ones included, are not counted: memory is what limits those.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.utils.flop_counter
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import _FlopCounterMode, flop_registry

from kbx.messages.oracle import Precision
from kbx.modes import without_dynamo
from kbx.suite.values import home

__all__ = ["Arithmetic", "FlopCounterMode"]

_PRECISIONS: dict[torch.dtype, Precision] = {
    torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.int8: "int8",
}  # fmt: skip

_FEW_STEPS = frozenset((
    # reductions and scans
    "sum", "mean", "prod", "amax", "amin", "max", "min", "aminmax", "argmax", "argmin", "any", "all", "_is_all_true",
    "count_nonzero", "std", "var", "var_mean", "std_mean", "logsumexp", "linalg_vector_norm", "dist", "renorm", "cumsum",
    "cumprod", "cummax", "cummin", "equal",
    # normalization and losses
    "_softmax", "_log_softmax", "_safe_softmax", "native_layer_norm", "native_group_norm", "native_batch_norm", "_native_batch_norm_legit",
    "_native_batch_norm_legit_no_training", "_batch_norm_with_update", "_batch_norm_no_update", "cudnn_batch_norm",
    "_fused_rms_norm", "mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "nll_loss_forward",
    "nll_loss2d_forward",
    # element-wise ones that torch does not mark as such
    "glu", "_prelu_kernel", "hardswish", "rrelu_with_noise", "log_sigmoid_forward", "isclose", "complex", "polar",
    "linalg_cross",
    # windows
    "avg_pool2d", "avg_pool3d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "max_pool2d_with_indices",
    "max_pool3d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool3d", "fractional_max_pool2d", "upsample_nearest1d",
    "upsample_nearest2d", "upsample_nearest3d", "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d",
    "upsample_bicubic2d", "grid_sampler_2d", "grid_sampler_3d", "affine_grid_generator", "im2col",
    # picks and moves
    "index", "index_select", "gather", "embedding", "embedding_renorm_", "masked_select", "take", "nonzero", "tril", "triu",
    "index_fill_", "index_put_", "index_add", "index_add_", "index_copy", "index_copy_", "scatter", "scatter_", "scatter_add",
    "scatter_add_", "scatter_reduce", "masked_scatter", "select_scatter", "slice_scatter", "masked_fill_", "cat", "stack",
    "repeat", "repeat_interleave", "roll", "flip", "constant_pad_nd", "reflection_pad1d", "reflection_pad2d",
    "reflection_pad3d", "replication_pad1d", "replication_pad2d", "replication_pad3d", "pixel_shuffle", "pixel_unshuffle",
    "diag_embed", "permute_copy", "copy_", "_to_copy", "clone", "fill_", "zero_", "resize_", "_unsafe_view", "lift_fresh",
    "lift_fresh_copy", "_local_scalar_dense",
    # fresh values
    "scalar_tensor", "arange", "linspace", "logspace", "eye", "empty", "zeros", "ones", "full", "empty_like", "zeros_like",
    "ones_like", "full_like", "new_empty", "new_zeros", "new_ones", "new_full", "empty_strided", "new_empty_strided", "rand",
    "randn", "randint", "randperm", "rand_like", "randn_like", "bernoulli", "bernoulli_", "binomial", "uniform_", "normal_",
    "exponential_", "random_", "native_dropout",
    # no work at all
    "_fused_sdp_choice", "_linalg_check_errors", "_assert_async", "promote_types",
))  # fmt: skip
"""Operations besides element-wise ones and views that do little with each element."""

_PRODUCTS = frozenset(("mm", "bmm", "addmm", "baddbmm", "_int_mm"))
_KEEP_ALL = frozenset(("_softmax", "_log_softmax", "_unsafe_view"))
"""Operations after a product, besides element-wise ones of one tensor, for which each of its elements must be known."""
_WHOLE_VIEWS = frozenset(
    ("t", "transpose", "permute", "view", "_reshape_alias", "unsqueeze", "squeeze", "expand", "detach", "alias")
)


def _int_mm(a: Sequence[int], b: Sequence[int], *args: Any, out_shape: object = None, **kwargs: Any) -> int:
    return 2 * a[0] * a[1] * b[1]


def _matrix_vector(matrix: Sequence[int], vector: object, *args: Any, out_shape: object = None, **kwargs: Any) -> int:
    return 2 * math.prod(matrix)


def _added_matrix_vector(
    added: object, matrix: Sequence[int], vector: object, *args: Any, out_shape: object = None, **kwargs: Any
) -> int:
    return 2 * math.prod(matrix)


def _attention(causal_at: int) -> Callable[..., int]:
    """The formula of an attention that has ``is_causal`` as argument number ``causal_at`` after queries, keys and values: a product for each
    pair of a query and a key that it sees. PyTorch's counts all pairs."""

    def flops(
        q: Sequence[int], k: Sequence[int], v: Sequence[int], *args: Any, out_shape: object = None, **kwargs: Any
    ) -> int:
        rows, keys = q[-2], k[-2]
        pairs = rows * keys
        if kwargs.get("is_causal", len(args) > causal_at and args[causal_at]):
            square = min(rows, keys)
            pairs = square * (square + 1) // 2 + (rows - square) * keys
        return 2 * math.prod(q[:-2]) * pairs * (q[-1] + v[-1])

    return flops


_FORMULAS = {
    torch.ops.aten._scaled_dot_product_flash_attention: _attention(1),
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention(1),
    torch.ops.aten._scaled_dot_product_efficient_attention: _attention(3),
    torch.ops.aten._scaled_dot_product_cudnn_attention: _attention(3),
    torch.ops.aten._int_mm: _int_mm,
    torch.ops.aten.mv: _matrix_vector,
    torch.ops.aten.dot: _matrix_vector,
    torch.ops.aten.addmv: _added_matrix_vector,
}
"""Products that torch's counter leaves out, and those that it counts too much of."""


without_dynamo(_FlopCounterMode)


class _NoModules(contextlib.nullcontext[None]):
    """In place of what tells the counter by hooks in which module an operation is: gradients by leaves cannot be computed beside these."""

    parents = frozenset(("Global",))


class FlopCounterMode(torch.utils.flop_counter.FlopCounterMode):
    """PyTorch's, which counts all as one, whatever module it is in."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.mod_tracker = _NoModules()  # type: ignore[assignment]


@without_dynamo
class Arithmetic(TorchDispatchMode):
    """Watches the operations of one call on ``arguments``, tensors of which each has memory of its own."""

    def __init__(self, arguments: list[torch.Tensor], tf32: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's
        self.uncounted: list[str] = []
        """Names of operations whose work is large and unknown: decompositions, transforms, sorts."""
        self._homes = {home(t) for t in arguments if t.numel()}
        self._dtypes = {t.dtype for t in arguments}
        self._tf32 = tf32
        self._counter = FlopCounterMode(display=False, custom_mapping=_FORMULAS)
        self._precisions: set[Precision | None] = set()
        self._products, self._plain = 0, True

    def __enter__(self) -> Arithmetic:
        self._counter.__enter__()  # type: ignore[no-untyped-call]  # torch's
        super().__enter__()  # type: ignore[no-untyped-call]  # torch's
        return self

    def __exit__(self, *error: Any) -> Any:
        super().__exit__(*error)  # type: ignore[no-untyped-call]  # torch's
        return self._counter.__exit__(*error)  # type: ignore[no-untyped-call]  # torch's

    def __torch_dispatch__(
        self,
        function: torch._ops.OpOverload,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        try:
            self._see(function, args, kwargs or {})
        except (AttributeError, IndexError, TypeError, RuntimeError):
            # An operation of another form than those known here: no fault of the task's.
            self.uncounted.append(str(function))
        return function(*args, **(kwargs or {}))

    @property
    def flops(self) -> int | None:
        """Operations of all products: None where there are none, or where not all of the work is counted."""
        return (None if self.uncounted else self._counter.get_total_flops()) or None

    @property
    def precision(self) -> Precision | None:
        """``fp64, fp32, tf32, fp16, bf16`` or ``int8``, what the operands of all products are: None if there is no one such."""
        return next(iter(self._precisions)) if self.flops and len(self._precisions) == 1 else None

    @property
    def least(self) -> int | None:
        """``flops`` where every correct kernel must compute as many: None where an algorithm may do with fewer."""
        return self.flops if self._plain and self._products == 1 else None

    def _see(self, function: torch._ops.OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        name, operands = function.overloadpacket.__name__, [a for a in args if isinstance(a, torch.Tensor)]
        light = torch.Tag.pointwise in function.tags
        if function.overloadpacket in flop_registry or function.overloadpacket in _FORMULAS:
            self._count(name, operands, kwargs)
        elif not (light or function.is_view or name in _FEW_STEPS):
            self.uncounted.append(name)
        else:
            self._plain &= name in _KEEP_ALL or name in _WHOLE_VIEWS or (light and len(operands) == 1)

    def _count(self, name: str, operands: list[torch.Tensor], kwargs: dict[str, Any]) -> None:
        dtype = operands[-1].dtype
        if dtype not in _PRECISIONS:  # The formulas are for real numbers.
            self.uncounted.append(name)
            return
        self._precisions.add(self._precision_of(dtype))
        self._products += 1
        self._plain &= name in _PRODUCTS and kwargs.get("alpha", 1) != 0 and self._needs_all(*operands[-2:])

    def _precision_of(self, dtype: torch.dtype) -> Precision | None:
        """None for a product in a type that no argument has: it may emulate a narrower one. Quantizing to int8 is real."""
        if dtype != torch.int8 and dtype not in self._dtypes:
            return None
        return "tf32" if self._tf32 and dtype == torch.float32 else _PRECISIONS[dtype]

    def _needs_all(self, a: torch.Tensor, b: torch.Tensor) -> bool:
        """Whether two matrices are free of structure that saves work: two arguments as they are, no row or column repeated, not
        one matrix and its transpose."""
        if home(a) == home(b) or not {home(a), home(b)} <= self._homes:
            return False
        repeated = any(_same(m, d) for m in (a, b) for d in (-1, -2)) or (a.dim() == 3 and _same(a, 0) and _same(b, 0))
        return not repeated


def _same(matrix: torch.Tensor, dimension: int) -> bool:
    """Whether all that lies along a dimension is one element."""
    return matrix.shape[dimension] > 1 and matrix.stride(dimension) == 0
