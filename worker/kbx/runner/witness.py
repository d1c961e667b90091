"""Sees every torch operation and every Triton launch of a candidate while it is being watched, and tells the ledger.

Watching costs some microseconds an operation. Outside of it nothing of this is in the way.
"""

import contextlib
import os
import sys
import threading

import torch
import triton
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack

from kbx.runner import extensions, interpreter, operations, threads
from kbx.runner.modes import PlainMode
from kbx.runner.storages import tensors_in

_PACKAGES = os.path.dirname(os.path.dirname(torch.__file__))

_READERS = frozenset((torch.Tensor.numpy, torch.Tensor.tolist, torch.Tensor.__array__, torch.Tensor.__dlpack__))

_ADDRESSES = frozenset((torch.Tensor.data_ptr, torch.Tensor.untyped_storage, torch.Tensor.storage))
"""What leads to the bytes of a tensor without reading them."""


class Witness:
    """Watches the candidate at ``path`` for ``ledger``. One a process. ``cpp``: functions of its C++ count as its kernels."""

    def __init__(self, ledger, path, cpp):
        self._ledger, self._path, self._cpp = ledger, path, cpp
        self._watching = self._failed = False
        self._outer = []
        """Function modes that were there before: an operation runs without them."""
        self._now = threading.local()
        self._launcher = triton.runtime.driver.active.launcher_cls
        self._launch = self._launcher.__call__
        self._remember_kernels()
        threads.enter_in_each(self._modes)

    def call(self, entry, args, kwargs, tensors):
        """``entry(*args, **kwargs)`` watched: its result and the ledger's account, None if the ledger failed."""
        self._failed = False
        with torch._C.DisableTorchFunction():
            self._note(self._ledger.begin, tensors)
        with self.watching(), extensions.watched(self._called):
            result = entry(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            account = self._note(self._ledger.end, result)
        return result, None if self._failed else account

    @contextlib.contextmanager
    def watching(self):
        """Watches this thread and those that it starts."""
        witness = self

        def launch(launcher, *arguments):
            return witness._launched(launcher, arguments)

        self._launcher.__call__, self._watching = launch, True
        self._outer = _get_current_function_mode_stack()
        try:
            with _Functions(self), _Operations(self):
                yield
        finally:
            self._launcher.__call__, self._watching = self._launch, False

    # ------------------------------------------------------------ what is seen

    def _note(self, observe, *arguments):
        """A fault of the ledger must not become the candidate's."""
        try:
            return observe(*arguments)
        except Exception:
            self._failed = True
            return None

    def _operated(self, function, args, kwargs):
        if _is_interpreting():
            return function(*args, **kwargs)
        if extensions.operations and operations.full_name(function) in extensions.operations:
            return self._called(function, *args, **kwargs)
        if (implementation := operations.implementation(function)) is not None:
            with contextlib.ExitStack() as stack:
                for mode in self._outer:
                    stack.enter_context(mode)
                stack.enter_context(self._modes())
                return implementation(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            self._note(self._use, args, kwargs)
            result = function(*args, **kwargs)
            self._note(self._ledger.operation, function, args, kwargs, result, lambda: self._where(function))
        return result

    def _called(self, function, *args, **kwargs):
        """Runs a function of the candidate's own C++: what it takes and gives counts as a launch. Torch's part in it is seen,
        unless it is registered as an operation: then nobody is told of those it calls.
        """
        with torch._C.DisableTorchFunction():
            records = self._note(self._ledger.reach, (*args, *kwargs.values())) or []
            before = self._ledger.computed()
        result = function(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            during = {event for event, elements in self._ledger.computed().items() if elements != before.get(event)}
            made = self._note(self._ledger.made, tensors_in(result)) or []
            touched = list({r.key: r for r in (*records, *made)}.values())
            self._note(self._ledger.launch, self._cpp, touched, lambda: ("a function of its C++", self._line()), during)
        return result

    def _use(self, *values):
        for tensor in tensors_in(values):
            self._ledger.use(tensor)

    def _launched(self, launcher, arguments):
        with torch._C.DisableTorchFunction():
            records = self._note(self._ledger.reach, arguments)
        result = self._launch(launcher, *arguments)
        kernel = getattr(launcher, "kbx_kernel", None)
        own = _is_own(kernel)
        with torch._C.DisableTorchFunction():
            if own:
                self._note(self._ledger.look_for_a_copy, arguments)
            self._note(self._ledger.launch, own, records or [], lambda: (_kernel_name(kernel), self._line()))
        return result

    def _where(self, function):
        called = getattr(self._now, "called", None)
        return _name(called) if called is not None else f"torch.{operations.base(function)}", self._line()

    def _line(self):
        """The line of the innermost frame of the candidate's own file; 0 without one."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self._path:
            frame = frame.f_back
        return frame.f_lineno if frame is not None else 0

    # ------------------------------------------------------------ what makes it seen

    def _remember_kernels(self):
        """Launchers do not keep the function they were made for."""
        make = self._launcher.__init__

        def remember(launcher, source, metadata):
            make(launcher, source, metadata)
            launcher.kbx_kernel = source.fn

        self._launcher.__init__ = remember

    @contextlib.contextmanager
    def _modes(self):
        """What a thread enters that starts while its starter is watched."""
        with contextlib.ExitStack() as stack:
            if self._watching:
                stack.enter_context(_Functions(self))
                stack.enter_context(_Operations(self))
            yield


class _Functions(TorchFunctionMode):
    """Remembers what the candidate called, for its name, and sees tensors become Python's without an operation."""

    def __init__(self, witness):
        super().__init__()
        self._witness = witness

    def __torch_function__(self, function, types, args=(), kwargs=None):
        witness, now = self._witness, self._witness._now
        now.called = function
        try:
            if function in _READERS and not _is_interpreting():
                with torch._C.DisableTorchFunction():
                    witness._note(witness._ledger.read, args[0], lambda: witness._where(function))
            elif function in _ADDRESSES and sys._getframe(1).f_code.co_filename == witness._path:
                with torch._C.DisableTorchFunction():
                    witness._note(witness._ledger.show, args[0])
            return function(*args, **(kwargs or {}))
        finally:
            now.called = None


class _Operations(PlainMode):
    supports_higher_order_operators = True

    def __init__(self, witness):
        super().__init__()
        self._witness = witness

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return self._witness._operated(function, args, kwargs or {})


def _is_interpreting():
    """Whether it is the interpreter that computes with torch, for a kernel."""
    return getattr(interpreter.now, "computing", False)


def _is_own(kernel):
    """Kernels of installed packages are not the candidate's, nor are those that torch.compile writes."""
    file = getattr(getattr(kernel, "fn", None), "__code__", None)
    file = file.co_filename if file is not None else ""
    return not file.startswith(_PACKAGES + os.sep) and "torchinductor" not in file


def _kernel_name(kernel):
    return f"kernel {getattr(kernel, '__name__', '')} of an installed package"


def _name(function):
    """``torch.matmul``, ``Tensor.sum``, ``torch.nn.functional.gelu``."""
    name, module = getattr(function, "__name__", str(function)), getattr(function, "__module__", None) or ""
    if name == "__get__":
        return f"Tensor.{getattr(function.__self__, '__name__', name)}"
    if hasattr(function, "__objclass__") or getattr(function, "__qualname__", "").startswith("Tensor."):
        return f"Tensor.{name}"
    if module.startswith("torch._C._") and module != "torch._C._nn":  # torch._C._linalg has linalg_qr
        family = module.removeprefix("torch._C._")
        return f"torch.{family}.{name.removeprefix(family + '_')}"
    functional = module in ("torch._C._nn", "torch.nn.functional")
    return f"torch.nn.functional.{name}" if functional else f"torch.{name}"
