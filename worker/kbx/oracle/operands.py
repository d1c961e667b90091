"""The reference as kernels compute it on tensor cores, which take no float32: attention casts its probabilities for the product with the values.

A reference that goes to float32 at its beginning has such operands in float32. Its result with operands rounded to the arguments' dtype is an
equivalent evaluation of it: how far that is from the truth is allowed to candidates, see ``kbx.suite.errors``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kbx.modes import without_dynamo
from kbx.suite.values import tensors

_aten = torch.ops.aten
PRODUCTS = {
    _aten.mm: (0, 1), _aten.bmm: (0, 1), _aten.mv: (0, 1), _aten.dot: (0, 1), _aten.addmm: (1, 2), _aten.baddbmm: (1, 2),
    _aten.addmv: (1, 2), _aten.convolution: (0, 1),
}  # fmt: skip
"""Operations that tensor cores compute, with the positions of their operands."""
HALF = (torch.float16, torch.bfloat16)


def with_rounded(call: Callable[[], Any], arguments: Any) -> Any:
    """The result of ``call()``, a reference on ``arguments``, with float32 operands of products rounded; None where that makes no
    difference, or the arguments are not in half precision."""
    dtype = next((t.dtype for t in tensors(arguments) if t.dtype in HALF), None)
    if dtype is None:
        return None
    mode = _Rounded(dtype)
    with mode:
        result = call()
    return result if mode.changed else None


@without_dynamo
class _Rounded(TorchDispatchMode):
    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's
        self.dtype, self.changed = dtype, False

    def __torch_dispatch__(
        self,
        function: torch._ops.OpOverload,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        places = PRODUCTS.get(function.overloadpacket, ())
        given = [self._rounded(arg) if place in places else arg for place, arg in enumerate(args)]
        return function(*given, **(kwargs or {}))

    def _rounded(self, operand: Any) -> Any:
        if operand.dtype != torch.float32:
            return operand
        found = operand.to(self.dtype).float()
        self.changed = self.changed or not torch.equal(found, operand)
        return found
