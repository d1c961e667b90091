"""Records what a call of the candidate does: torch's operations and its launches, by the addresses of what they work on.

The record is a claim. ``kbx.executor.replay`` does the same on other values and without the candidate, and what was computed elsewhere is
missing there. So nothing here is hidden from the candidate.
"""

import contextlib

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from kbx import tensors
from kbx.modes import PlainMode, implementation
from kbx.runner import execution
from kbx.runner.storages import tensors_in

_OLDER_BYTES = 64 << 20
"""Of memory that is older than the call, in one record."""


class Trace(PlainMode):
    """The record of one call, with these arguments.

    ``steps`` are operations, launches, and memory that is older than the call, whose content
    ``keep(address, bytes, device)`` keeps, of a ``device`` of this type. ``results`` are the tensors that it returned; ``gap`` says what is not recorded, if anything.
    """

    supports_higher_order_operators = True

    def __init__(self, given, keep):
        super().__init__()
        self.steps, self.results, self.gap, self._keep = [], [], None, keep
        self.paused = 0
        self._known, self._kept, self._left = {}, set(), _OLDER_BYTES
        for tensor in given:
            self._without_fault(self._note, tensor)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        # Of an operation that the candidate has registered the parts are recorded, see ``parts``.
        told_by_its_parts = implementation(function) is not None
        if self.gap is not None or self.paused or told_by_its_parts or function is torch.ops.aten.record_stream.default:
            return function(*args, **kwargs)
        told = self._without_fault(self._asked, function, args, kwargs)
        result = function(*args, **kwargs)
        self._without_fault(self._answered, function, told, result)
        return result

    def _without_fault(self, note, *arguments):
        """What ``note(*arguments)`` gives. A tensor that cannot be recorded must not become the candidate's error."""
        if self.gap is not None:
            return None
        try:
            return note(*arguments)
        except Exception as error:
            self.gap = f"{type(error).__name__}: {error}"
            return None

    def _asked(self, function, args, kwargs):
        for tensor in tensors_in((args, kwargs)):
            self._find(tensor)
        told = {"args": self._told(list(args)), "kwargs": {name: self._told(value) for name, value in kwargs.items()}}
        if torch.Tag.nondeterministic_seeded in function.tags:
            told["draws"] = _state(args, kwargs)
        return told

    def _answered(self, function, told, result):
        made = []
        for tensor in tensors_in(result):
            made.append([self._described(tensor), not self._knows(tensor)])
            self._note(tensor)
        self.steps.append({"operation": str(function), **told, "made": made})

    def launched(self, storages, device):
        """A launch is made, which the executor is told of: on memory of the ``device`` with these addresses, of so many bytes."""
        if self.gap is not None:
            return
        for address, length in storages.items():
            known = self._known.get(address)
            if known.expired() if known is not None else address not in self._kept:
                self._remember(address, length, device)
        self.steps.append({"launch": True})

    def take(self, result):
        """The call has returned."""
        self._without_fault(self._returned, result)

    def _returned(self, result):
        for tensor in tensors_in(result):
            self._find(tensor)
            self.results.append(self._described(tensor))

    def _find(self, tensor):
        if tensor.layout != torch.strided or self._knows(tensor):
            return
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self._kept - self._known.keys():  # else a launch had its address
            self._remember(storage.data_ptr(), storage.nbytes(), tensor.device.type)
        self._note(tensor)

    def _knows(self, tensor):
        known = self._known.get(_address(tensor))
        return known is not None and known.cdata == tensor.untyped_storage()._cdata

    def _note(self, tensor):
        """Its memory is known; also after the tensor is gone, as long as nobody else has it."""
        if tensor.layout == torch.strided:
            self._known[_address(tensor)] = StorageWeakRef(tensor.untyped_storage())

    def _remember(self, address, length, device):
        self._left -= length
        if self._left < 0:
            self.gap = f"more than {_OLDER_BYTES >> 20} MiB that are older than the call"
        elif length:
            self._keep(address, length, device)
            self._kept.add(address)
            self.steps.append({"older": address, "device": device})

    def _told(self, value):
        if isinstance(value, torch.Tensor):
            return {"tensor": self._described(value)}
        if isinstance(value, (list, tuple)):
            return [self._told(each) for each in value]
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return {"float": value.hex()}
        if type(value) is complex:
            return {"complex": [value.real.hex(), value.imag.hex()]}
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return {"torch": str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"device": value.type}
        if isinstance(value, torch.Generator):
            return {"generator": value.device.type}
        self.gap = self.gap or f"an argument that is a {type(value).__name__}"
        return None

    def _described(self, tensor):
        if tensor.layout != torch.strided or tensors.dtype_name(tensor.dtype) not in tensors.DTYPES:
            self.gap = self.gap or f"a tensor of {tensor.layout} and {tensor.dtype}"
            return None
        if tensor.is_conj() or tensor.is_neg():
            self.gap = self.gap or "a tensor that is conjugated or negated when it is read"
        storage = tensor.untyped_storage()
        return {
            "at": storage.data_ptr(), "bytes": storage.nbytes(), "offset": tensor.storage_offset(),
            "shape": list(tensor.shape), "stride": list(tensor.stride()), "dtype": tensors.dtype_name(tensor.dtype),
            "device": tensor.device.type,
        }  # fmt: skip


@contextlib.contextmanager
def recording(made):
    """While this call is made."""
    execution.recording = made
    try:
        with made:
            yield made
    finally:
        execution.recording = None


def parts():
    """A context in which the parts of an operation of the candidate's own are recorded, if its call is."""
    return execution.recording if execution.recording is not None else contextlib.nullcontext()


@contextlib.contextmanager
def pausing():
    """While launches are made to be timed, which leave nothing that is needed."""
    made = execution.recording
    if made is None:
        yield
        return
    made.paused += 1
    try:
        yield
    finally:
        made.paused -= 1


def leave_out(what):
    """Says that the call does what is not recorded."""
    if execution.recording is not None:
        execution.recording.gap = execution.recording.gap or what


def _state(args, kwargs):
    """``device`` and ``state`` of the generator that an operation draws from."""
    values = [*args, *kwargs.values()]
    generator = next((value for value in values if isinstance(value, torch.Generator)), None)
    if generator is None:
        devices = (
            value if isinstance(value, torch.device) else value.device
            for value in values
            if hasattr(value, "device") or isinstance(value, torch.device)
        )
        device = next(devices, torch.device("cpu"))
        generator = (
            torch.default_generator
            if device.type == "cpu" or not torch.cuda.default_generators
            else torch.cuda.default_generators[device.index or 0]
        )
    return {"device": generator.device.type, "state": bytes(generator.get_state().tolist()).hex()}


def _address(tensor):
    return tensor.untyped_storage().data_ptr() if tensor.layout == torch.strided else None
