"""What a call returned, copied away in the same way by runner and oracle: it is done between timed calls."""

import torch

from kbx import tensors

# Taken before any candidate is loaded. The C class under torch.Tensor cannot be assigned to.
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_copy = torch._C.TensorBase.copy_
_NoFunctionModes, _NoDispatchModes = torch._C.DisableTorchFunction, torch._C._DisableTorchDispatch


def put(value, arena, inputs):
    """The tree of a result whose tensors are now, contiguous, in fresh regions of ``arena``; ``inputs`` are those of the call."""
    return tensors.encode(value, lambda tensor: _put(tensor, arena, inputs))


def _put(tensor, arena, inputs):
    """Copies one tensor and returns its leaf.

    Tensors of classes of the candidate's own are refused: they may compute when they are looked at, after the clock.
    """
    if type(tensor) not in _PLAIN:
        return {"t": "opaque", "v": f"{type(tensor).__module__}.{type(tensor).__qualname__}"}
    name = tensors.dtype_name(tensor.dtype)
    if name not in tensors.DTYPES:
        return {"t": "opaque", "v": f"tensor of {tensor.dtype}"}
    shape = list(tensor.shape)
    offset = arena.reserve(max(1, tensor.numel() * tensor.element_size()))
    if tensor.numel() and not tensor.is_meta:  # a meta tensor has a place and no bytes: the oracle says so
        target = arena.typed(offset, tensor.numel(), tensor.dtype).view(shape)
        with torch.no_grad(), _NoFunctionModes(), _NoDispatchModes():
            _copy(target, tensor)
    leaf = {"t": "tensor", "arena": arena.name, "offset": offset, "shape": shape, "dtype": name}
    leaf["stride"] = list(torch.empty(shape, device="meta").stride())
    leaf["own_stride"] = list(tensor.stride())
    leaf["device"] = tensor.device.type
    address = 0 if tensor.is_meta else tensor.untyped_storage().data_ptr()
    shared = [i for i, t in enumerate(inputs) if address and t.untyped_storage().data_ptr() == address]
    if shared:
        leaf["aliases"] = shared[0]
    return leaf
