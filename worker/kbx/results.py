"""Copies a call's result to an arena, between timed calls, in the same way in runner and oracle.

No code of the candidate may run here, after the clock has stopped. So tensors are read by functions of the C class under
``torch.Tensor``, which cannot be patched, taken before any candidate is loaded.
"""

from collections.abc import Callable, Sequence

import torch

from kbx import tensors
from kbx.messages import Tree

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_Base = torch._C.TensorBase
_copy, _numel, _element_size, _stride, _view, _storage = (
    getattr(_Base, name) for name in ("copy_", "numel", "element_size", "stride", "view", "untyped_storage")
)
_shape, _dtype, _device, _layout, _is_meta, _is_nested = (
    getattr(_Base, name).__get__ for name in ("shape", "dtype", "device", "layout", "is_meta", "is_nested")
)
_address = torch._C.StorageBase.data_ptr  # type: ignore[attr-defined]  # torch's stub lacks it
_empty, _no_grad = torch.empty, torch.no_grad
_NoFunctionModes, _NoDispatchModes = torch._C.DisableTorchFunction, torch._C._DisableTorchDispatch


def put(
    value: object,
    arena: tensors.Arena,
    inputs: Sequence[torch.Tensor],
    again: Callable[[torch.UntypedStorage], bool] = lambda storage: False,
) -> Tree:
    """The tree of a result whose tensors are now, contiguous, in fresh regions of ``arena``; ``inputs`` are those of the call. ``again`` says
    whether an earlier result lies in a storage, too."""
    return tensors.encode(value, lambda tensor: _put(tensor, arena, inputs, again))


def _put(
    tensor: torch.Tensor,
    arena: tensors.Arena,
    inputs: Sequence[torch.Tensor],
    again: Callable[[torch.UntypedStorage], bool],
) -> Tree:
    """Copies one tensor and returns its leaf.

    Tensors of classes of the candidate's own are refused: they may compute when they are looked at.
    """
    if type(tensor) not in _PLAIN:
        return {"t": "opaque", "v": f"{type(tensor).__module__}.{type(tensor).__qualname__}"}
    name = tensors.dtype_name(_dtype(tensor))
    if name not in tensors.DTYPES:
        return {"t": "opaque", "v": f"tensor of {_dtype(tensor)}"}
    if _layout(tensor) != torch.strided or _is_nested(tensor):
        return {"t": "opaque", "v": "nested tensor" if _is_nested(tensor) else f"tensor of layout {_layout(tensor)}"}
    with _no_grad(), _NoFunctionModes(), _NoDispatchModes():
        shape, count = list(_shape(tensor)), _numel(tensor)
        offset = arena.reserve(max(1, count * _element_size(tensor)))
        if count and not _is_meta(tensor):  # a meta tensor has a place and no bytes: the oracle says so
            _copy(_view(arena.typed(offset, count, _dtype(tensor)), shape), tensor)
        address = 0 if _is_meta(tensor) else _address(_storage(tensor))
        shared = [i for i, t in enumerate(inputs) if address and _address(_storage(t)) == address]
        reused = bool(address) and not shared and again(_storage(tensor))
        strides = list(_stride(_empty(shape, device="meta"))), list(_stride(tensor))
    leaf: Tree = {"t": "tensor", "arena": arena.name, "offset": offset, "shape": shape, "dtype": name}
    leaf["stride"], leaf["own_stride"] = strides
    leaf["device"] = _device(tensor).type  # with function modes: one of them plays a GPU where there is none
    if shared:
        leaf["aliases"] = shared[0]
    if reused:
        leaf["reused"] = True
    return leaf
