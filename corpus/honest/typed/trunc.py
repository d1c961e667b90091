"""Annotated throughout: postponed annotations, aliases, literals, overloads, a protocol and imports for types only.

style: typed
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, Optional, Protocol, Union, cast, overload

import torch
import triton
import triton.language as tl

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

Kind = Literal["float", "integer"]
Number = Union[int, float]
BLOCK_SIZE: Final[int] = 1024


class Launcher(Protocol):
    def __call__(self, x: Tensor, out: Tensor) -> None: ...


@triton.jit
def trunc_kernel(x_ptr, out_ptr, n, FLOATING: tl.constexpr, ACC: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    if FLOATING:
        wide = x.to(ACC)
        x = tl.where(wide < 0, tl.ceil(wide), tl.floor(wide)).to(x.dtype)
    tl.store(out_ptr + i, x, mask=i < n)


def kind(dtype: torch.dtype) -> Kind:
    return "float" if dtype.is_floating_point else "integer"


@overload
def trunc(input: Tensor) -> Tensor: ...


@overload
def trunc(input: Tensor, out: Tensor) -> Tensor: ...


def trunc(input: Tensor, out: Optional[Tensor] = None) -> Tensor:
    x: Tensor = input.contiguous()
    result = cast("Tensor", torch.empty_like(x) if out is None else out)
    n: int = x.numel()
    if n:
        grid: Callable[[dict[str, int]], tuple[int, ...]] = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)  # noqa: E731
        acc = tl.float64 if x.dtype == torch.float64 else tl.float32
        trunc_kernel[grid](x, result, n, FLOATING=kind(x.dtype) == "float", ACC=acc, BLOCK=BLOCK_SIZE)
    return result
