"""Hands launches to the executor, or on a GPU tells the recorder of them: see ``kbx.executor``. What is said here is a claim, like
everything of a runner's."""

import ctypes
import threading

import torch
from torch.utils._python_dispatch import _disable_current_modes

from kbx.executor.arguments import described
from kbx.executor.channel import Broken, Channel
from kbx.runner import arenas, copies, gaps, native

_client = None
"""Of this process; None where kernels are not executed."""
recording = None
"""The record of the call that is made, a ``trace.Trace``, which hears of launches."""
addresses = []
"""Address and bytes of the tensors of which this process has no more, see ``kbx.runner.large``."""


def connect(executor):
    """Has launches executed by ``executor`` (a ``kbx.executor.channel.Executor``) from now on."""
    global _client
    _client = _Client(Channel(executor.connection))


def attach(bases):
    """The executor maps what is shared: ``in``, ``out`` and ``heap`` lie at these addresses."""
    _client.attach(bases)


def begin(source, path):
    """Tells the candidate's source, once and before anything of it has run: what is compiled is from there."""
    _client.channel.send({"begin": source, "path": path})


def compile(request):
    """The executor's answer to a description of a kernel, see ``kbx.runner.compilation``."""
    return _client.ask({"compile": request})[0]


def keep(address, length, device):
    """The executor keeps what memory of the ``device`` holds now, which is older than the call that is recorded."""
    _client.keep(address, length, device)


def record(made):
    """Hands over the record of a call, a ``trace.Trace``."""
    _client.record({"record": made.steps, "results": made.results, "gap": made.gap})


def repeat(repeated):
    """The call is one on large tensors, see ``kbx.executor.large``. ``repeated``: address and bytes of each argument that is repeated, and the address
    of what it repeats."""
    _client.ask({"repeat": repeated})


def final(place):
    """Bytes that kernels have left in a tensor, in such a call: ``place`` is address and bytes of its storage, offset and number of those asked
    for. Raises Unsupported where they are not known to be final."""
    answer, blobs = _client.ask({"final": place})
    _raise(answer)
    return blobs[0]


def launch(number, types, grid, arguments):
    """Runs kernel ``number`` over ``grid`` (three sizes). Returns addresses of tensors that it has reached and was not given.

    ``arguments`` holds every parameter in order, constexprs included; ``types`` is Triton's signature (name to type). Raises Unsupported for
    what cannot be executed, OSError for memory that is not the device's, and TimeoutError where programs wait for each other for ever.
    """
    names, told, storages = described(arguments, types)
    if recording is not None:
        recording.launched(storages, "cuda")
    return _client.launch(number, grid, names, told, storages)


def connect_recorder(executor, base):
    """Tells ``executor``, which is a recorder, of launches from now on; what is lent begins at this address."""
    global _client
    _client = _Recorder(Channel(executor.connection))
    _client.channel.send({"attach": {"in": base}})


def launches_here(launcher, grid, arguments):
    """Tells the recorder of a launch that is about to be made in this process."""
    if recording is not None:
        _client.launching(launcher, grid, arguments)


class _Recorder:
    """What is told where the runner launches its kernels itself. Nothing is answered. What cannot be told is left out of the record, and is no
    fault of the candidate's."""

    def __init__(self, channel):
        self.channel, self._numbers, self._kept, self._lock = channel, {}, {}, threading.RLock()

    def record(self, message):
        self._tell(message)

    def keep(self, address, length, device):
        """A copy stays on the device, by which it is seen whether memory has changed since the last time."""
        if copies.is_capturing():
            recording.gap = recording.gap or "a CUDA graph that the candidate records"
            return
        with self._lock, _disable_current_modes():
            now = _bytes_at(address, length, device)
            before = self._kept.get(address)
            if before is not None and torch.equal(before, now):
                self._tell({"older": address})
                return
            self._kept[address] = now.clone()
            self._tell({"older": address}, [memoryview(now.cpu().numpy())])

    def launching(self, launcher, grid, arguments):
        if recording.paused or recording.gap is not None or 0 in grid:
            return
        try:
            self._launch(launcher.kbx_source, grid, arguments)
        except Exception as error:
            recording.gap = recording.gap or f"a launch: {error}"

    def _launch(self, source, grid, arguments):
        names, told, storages = described(arguments, source.signature)
        with self._lock:
            number = self._number(source)
            recording.launched(storages, "cuda")
            types = list(source.signature.values())
            self._tell({
                "launch": number, "grid": grid, "names": names, "arguments": told, "types": types, "regions": list(storages.items()),
            })  # fmt: skip

    def _number(self, source):
        """Of the kernel, whose description is told once."""
        if id(source) not in self._numbers:
            number = len(self._numbers)
            self._tell({"kernel": number, **source.kbx_request()})
            self._numbers[id(source)] = number, source
        return self._numbers[id(source)][0]

    def _tell(self, message, blobs=()):
        try:
            with self._lock:
                self.channel.send(message, blobs)
        except Broken:
            if recording is not None:
                recording.gap = recording.gap or "the process that keeps records has ended"


def _bytes_at(address, length, device):
    if device == "cpu":
        return torch.frombuffer((ctypes.c_char * length).from_address(address), dtype=torch.uint8)
    return arenas.device_bytes(address, length, "cuda")


class _Client:
    def __init__(self, channel):
        self.channel, self._lock, self._shared, self._has_heap = channel, threading.Lock(), [], False

    def attach(self, bases):
        self._shared, self._has_heap = self.ask({"attach": bases})[0]["shared"], "heap" in bases

    def ask(self, message, blobs=()):
        with self._lock:
            self.channel.send(message, blobs)
            return self._answer()

    def record(self, message):
        self.ask(message)

    def keep(self, address, length, device):
        self.ask(
            {"older": address, "bytes": length}, [] if self._shares(address) else [ctypes.string_at(address, length)]
        )

    def launch(self, number, grid, names, arguments, storages):
        """``storages``: bytes of each tensor's memory by its address. What is not shared goes along, and comes back."""
        copied = [start for start, length in storages.items() if length and not self._shares(start)]
        message = {
            "launch": number, "grid": grid, "names": names, "arguments": arguments, "copied": copied, "filler": native.filler,
            "regions": [pair for pair in storages.items() if pair[0] not in copied],
        }  # fmt: skip
        if copied and self._has_heap:
            raise OSError("a kernel is given memory that is not the device's")
        answer, blobs = self.ask(message, [ctypes.string_at(start, storages[start]) for start in copied])
        for start, blob in zip(copied, blobs, strict=False):
            ctypes.memmove(start, (ctypes.c_char * len(blob)).from_buffer(blob), len(blob))
        _raise(answer)
        return answer["reached"]

    def _shares(self, address):
        return any(start <= address < start + length for start, length in self._shared)

    def _answer(self):
        try:
            answer, blobs = self.channel.receive()
            while "more" in answer:
                self.channel.send({"regions": [*native.library.blocks(), *addresses] if native.guards() else None})
                answer, blobs = self.channel.receive()
        except Broken as error:
            raise RuntimeError("the process that executes kernels has ended") from error
        return answer, blobs


def _raise(answer):
    if "unsupported" in answer:
        raise gaps.noted(gaps.Unsupported(answer["unsupported"]))
    if "stuck" in answer:
        raise TimeoutError(f"programs wait for each other for ever at {answer['stuck']}")
