"""Sees every torch operation and every Triton launch of a candidate while it is being watched, and tells the ledger.

Operations and what touches memory on the host are seen below Python, by ``kbx.runner.native``; modes of torch tell what the
candidate called them, and stand in where the native half could not be built. Outside of watching a wrapped operation takes
some tenths of a microsecond more.
"""

import contextlib
import functools
import inspect
import os
import sys
import threading
import types

import torch
import triton
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack

from kbx import results, tensors
from kbx.executor import arguments as of_launches
from kbx.executor import channel
from kbx.modes import PlainMode, implementation, implementations
from kbx.runner import (
    arenas,
    backward,
    copies,
    execution,
    extensions,
    guards,
    kernel_packages,
    launches,
    ledger,
    native,
    operations,
    storages,
    threads,
    trace,
)
from kbx.runner.storages import tensors_in

_snapshot = torch.cuda.memory_snapshot
"""Taken before any candidate is loaded."""
_PACKAGES = os.path.dirname(os.path.dirname(torch.__file__))

_TORCH = os.path.join(_PACKAGES, "torch", "_inductor") + os.sep
_LAUNCHING = (os.path.join(_PACKAGES, "triton") + os.sep, os.path.dirname(__file__) + os.sep)
"""Where frames lie between a launch and the code that asks for it."""

_READERS = frozenset((torch.Tensor.numpy, torch.Tensor.tolist, torch.Tensor.__array__, torch.Tensor.__dlpack__))

_HIDDEN = 9
"""Arguments of a launcher that are no arguments of the kernel: grid, stream, kernel, hooks."""
_OF_TORCH = ("libtorch", "libc10")
_LIBRARIES = (
    *_OF_TORCH, "libcublas", "libcudnn", "libcufft", "libcurand", "libcusolver", "libcusparse", "libcutensor", "libnccl", "libnpp",
)  # fmt: skip
"""How files begin whose kernels are not the candidate's, even if its own C++ calls them."""

_ADDRESSES = frozenset((torch.Tensor.data_ptr, torch.Tensor.untyped_storage, torch.Tensor.storage))
"""What leads to the bytes of a tensor without reading them."""


class Witness:
    """Watches the candidate at ``path`` for ``ledger``. One a process, made before the candidate is loaded.

    ``cpp``: functions of its C++ count as its kernels. ``gpu``: it runs on a GPU, whose driver is watched as well if CUPTI is there.
    ``guards``: what its launches go through, if anything.
    """

    def __init__(self, ledger, path, cpp, gpu=False, guards=None):
        self._ledger, self._path, self._cpp, self._guards = ledger, path, cpp, guards
        self._native = native.library
        self._driver = gpu and native.watches_driver()
        self._gpu_probe = torch.zeros(1, device="cuda") if self._driver else None
        self._watching = self._failed = self._in_cpp = False
        self._reached = set()
        """Addresses that launches of the candidate's C++ were given while a function of it runs."""
        self._reader = None
        """What the candidate last called that leads to the bytes of a tensor, and its line."""
        self._outer = []
        """Function modes that were there before: an operation runs without them."""
        self._now = threading.local()
        self._before = implementations()
        """Torch's own: the candidate is not loaded yet."""
        self._launcher = triton.runtime.driver.active.launcher_cls
        self._launch = self._launcher.__call__
        self._remember_kernels()
        if self._native is not None:
            self._seal()
        threads.enter_in_each(self._modes)

    def call(self, entry, args, kwargs, inputs, taken=lambda result, inputs: result):
        """``entry(*args, **kwargs)`` watched: what ``taken(result, inputs)`` makes of its result, and the ledger's account, None if that
        is not complete. Nothing becomes of the result unseen until it is taken.
        """
        self._failed = False
        self._note("begin", inputs, _handed_out() if self._driver else ())
        with self.watching(), extensions.watched(self._called), kernel_packages.watched(self._called):
            before = self._counts()
            result = entry(*args, **kwargs)
            value = self._note(taken, result, inputs)
            complete = self._is_complete(before)
        self._note("touch", self._touched, self._read_by)
        account = self._note("end", result)
        return value, account if complete and not self._failed else None

    @contextlib.contextmanager
    def watching(self):
        """Watches this thread and those that it starts."""
        witness = self

        def launch(launcher, *arguments):
            return witness._launched(launcher, arguments)

        self._launcher.__call__, self._watching = launch, True
        self._outer = _get_current_function_mode_stack()
        if self._native is not None:
            self._native.watch(self._observed)
        if self._driver:
            self._native.watch_driver(True)
        try:
            with self._modes():
                yield
            self._take_driver_calls()
        finally:
            if self._driver:
                self._native.watch_driver(False)
            self._touched = []
            if self._native is not None:
                self._touched = self._native.touched()
                self._native.watch(None)
            self._launcher.__call__, self._watching = self._launch, False

    def _seal(self):
        codes, parts = _sealed()
        parts = tuple(part for part in parts if part[0] is not self._launcher)
        self._native.seal(self._account, codes, parts)

    @property
    def sees_launches(self):
        """Whether what launches on a GPU is seen, whoever does it."""
        return self._driver

    def unseen(self, function):
        """The function, whose operations are nobody's work."""
        return functools.partial(self._note, function)

    def ran(self):
        """Operations that ran since last asked, watched or not, also as parts of others, for ``computing``."""
        return self._native.ran() if self._native is not None else ()

    @staticmethod
    def computing(ran):
        """Names of those operations that compute. Not asked between timed calls: it takes longer than ``ran``."""
        parsed = (operations.parsed(name, False) for name in ran)
        computing = (o for o in parsed if operations.kind(o, False) is operations.Kind.COMPUTES)
        return sorted({o.base.rstrip("_") for o in computing})

    # ------------------------------------------------------------ whether all was seen

    def _counts(self):
        """How many operations the native half has told of, and how many the ledger was told of."""
        return self._native and (self._native.count(), self._ledger.told)

    def _is_complete(self, before):
        """Whether an operation made now is seen, and the ledger was told of each since ``before``; on a GPU, also its launch."""
        if self._native is None:
            return True
        _probe.clone()
        told, heard = (now - then for now, then in zip(self._counts(), before, strict=True))
        return told == heard > 0 and self._native.intact() and self._sees_launches()

    def _sees_launches(self):
        if not self._driver:
            return True
        before = self._native.driver_count()
        self._gpu_probe.clone()
        return self._native.driver_count() > before

    # ------------------------------------------------------------ what is seen

    def _note(self, what, *arguments):
        """A method of the ledger, or a function of kbx's whose operations are nobody's work."""
        return (self._native.note if self._native is not None else self._account)(what, *arguments)

    def _account(self, what, *arguments):
        return what(*arguments) if callable(what) else self._apply(what, *arguments)

    def _apply(self, what, *arguments):
        """A method of the ledger. A fault of the ledger must not become the candidate's."""
        try:
            with torch._C.DisableTorchFunction():
                return getattr(self._ledger, what)(*arguments)
        except Exception:
            self._failed = True
            return None

    def _observed(self, name, pointwise, inputs, written, results, number, touched):
        """Called by the native half when an operation has run, or has failed: without results then."""
        self._take_driver_calls()
        if touched:
            self._apply("touch", touched, self._read_by)
        operation = operations.parsed(name, pointwise)
        self._apply("operation", operation, inputs, written, results, number, lambda: self._where(operation))

    def _operated(self, function, args, kwargs):
        if extensions.operations and operations.full_name(function) in extensions.operations:
            return self._called(function, *args, **kwargs)
        if (parts := implementation(function)) is not None:
            with contextlib.ExitStack() as stack:
                for mode in self._outer:
                    stack.enter_context(mode)
                stack.enter_context(self._modes())
                stack.enter_context(trace.parts())
                return parts(*args, **kwargs)
        if self._native is not None:
            return function(*args, **kwargs)
        inputs, written = list(tensors_in((args, kwargs))), operations.written(function, args, kwargs)
        for tensor in inputs:
            self._note("use", tensor)
        operation, number = operations.of(function), any(type(a) is float for a in (*args, *kwargs.values()))
        result = None
        try:
            with torch._C.DisableTorchFunction():
                result = function(*args, **kwargs)
        finally:
            results = list(tensors_in(result)), number, lambda: self._where(operation)
            self._note("operation", operation, inputs, list(tensors_in(written)), *results)
        return result

    def _called(self, function, *args, **kwargs):
        """Runs a function of the candidate's own C++, or a kernel that it has compiled in another package than Triton: what it takes
        and gives counts as a launch. Torch's part in it is seen, unless it is registered as an operation: then nobody is told of those it calls.
        """
        self._take_driver_calls()
        trace.leave_out("kernels that are not Triton's")
        if self._guards is not None:
            self._guards.leave_out("kernels that are not Triton's")
        given = [_address(value) for value in (*args, *kwargs.values())]
        records = self._note("reach", given) or []
        before = self._note("computed") or {}
        with self._within_cpp() as reached:
            result = function(*args, **kwargs)
        self._forget_touches()
        records += self._note("reach", sorted(reached)) or []  # tensors that it has kept from before
        after = self._note("computed") or {}
        during = {event for event, elements in after.items() if elements != before.get(event)}
        made = self._note("made", list(tensors_in(result))) or []
        touched = list({r.key: r for r in (*records, *made)}.values())
        self._launched_by_cpp(touched, during)
        return result

    @contextlib.contextmanager
    def _within_cpp(self):
        """While a function of the candidate's C++ runs; gives the addresses that its launches name."""
        outer, self._in_cpp, self._reached = (self._in_cpp, self._reached), True, set()
        try:
            try:
                yield self._reached
            finally:
                self._take_driver_calls()
        finally:
            self._in_cpp, self._reached = outer

    def _launched_by_cpp(self, records, during=frozenset()):
        self._note("launch", self._cpp, records, lambda: ("a function of its C++", self._line()), during)

    def _launched(self, launcher, arguments):
        self._take_driver_calls()
        self._take_touches()
        records = self._note("reach", arguments)
        before = self._note("remember_integers", arguments)
        self._note("remember_computed", arguments)
        result = self._made(launcher, arguments)
        if reached := getattr(launcher, "kbx_reached", ()):
            records = [*(records or ()), *(self._note("reach", reached) or ())]
        kernel = getattr(launcher, "kbx_kernel", None)
        own, where = _is_own(kernel) and not _is_launched_by_torch(), (_kernel_name(kernel), self._line())
        self._note("look_for_floats", before or [])
        if own:
            self._note("look_for_a_copy", arguments)
        self._note("launch", own, records or [], lambda: where)
        return result

    def _made(self, launcher, arguments):
        """Makes the launch, with its tensors beside memory that does not exist where they are guarded."""
        if self._driver:
            self._note(execution.launches_here, launcher, arguments[:3], arguments[_HIDDEN:])
        guarded = self._note(self._guards.enter, launcher, arguments) if self._guards is not None else None
        try:
            with self._expected(arguments):
                result = self._launch(launcher, *(arguments if guarded is None else guarded.arguments))
        except BaseException:
            if guarded is not None:
                self._note(self._guards.abandon, guarded)
            raise
        if guarded is not None:
            self._note(self._guards.leave, guarded)
        return result

    @contextlib.contextmanager
    def _expected(self, arguments):
        """The kernel that a launcher is given as its fifth argument is what it launches, and nothing else of what happens meanwhile."""
        if not self._driver:
            yield
            return
        self._native.expect_launch(arguments[4])
        try:
            yield
        finally:
            self._native.expect_launch(0)

    def _take_driver_calls(self):
        """Tells the ledger of launches and copies that no operation and no launcher of Triton's asked for. While a function of the
        candidate's C++ runs, its own count as its work; so do those of its libraries at other times, as of a function that was fetched
        from a module before its functions were observed.
        """
        if not self._driver:
            return
        complete = False  # an exception on the candidate's stack, or of its signal handler, loses what was taken
        try:
            calls = self._native.driver_calls()
            for kind, name, library, addresses in calls or ():
                file = os.path.basename(library)
                if _is_housekeeping(kind, name, file):
                    continue
                if self._in_cpp and not file.startswith(_LIBRARIES):
                    self._reached.update(addresses)
                elif kind == "launch" and library in extensions.files:
                    self._launched_by_cpp(self._note("reach", addresses) or [])
                else:
                    self._asked_of_driver(kind, f"{name} of {file or 'code of no file'}", file, addresses)
            complete = calls is not None  # else too many of them were left to be told apart
        finally:
            self._failed = self._failed or not complete

    def _asked_of_driver(self, kind, name, file, addresses):
        if kind in ("to host", "from host"):
            self._note("touch", [(each, kind == "from host") for each in addresses], lambda: (name, 0))
            return
        # Only torch passes tensors as they are: a library may be given addresses in memory, as cuBLAS is for many products at once.
        named = kind == "copy" or file.startswith(_OF_TORCH)
        records = self._note("reach", addresses) if named else None
        self._note("launch", False, records or self._note("all") or [], lambda: (name, 0))
        trace.leave_out(name)

    def _take_touches(self):
        if self._native is not None and (touched := self._native.touched()):
            self._note("touch", touched, self._read_by)

    def _forget_touches(self):
        """What a function of the candidate's own C++ has touched is its work."""
        if self._native is not None:
            self._native.touched()

    def _look(self, function, tensor):
        """Called for what reads a tensor, or leads to its bytes: the reason if its memory is read from here on."""
        if function in _ADDRESSES and sys._getframe(2).f_code.co_filename != self._path:
            return
        if self._ledger.sees_reads:
            self._reader = _name(function), self._line()
        elif function in _ADDRESSES:
            self._note("show", tensor)
        else:
            self._note("read", tensor, lambda: (_name(function), self._line()))

    def _read_by(self):
        return self._reader or ("memory read by the host", 0)

    def _where(self, operation):
        called = getattr(self._now, "called", None)
        return _name(called) if called is not None else f"torch.{operation.base}", self._line()

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
            launcher.kbx_kernel, launcher.kbx_types = source.fn, getattr(source, "signature", None)
            launcher.kbx_source = source

        self._launcher.__init__ = remember

    @contextlib.contextmanager
    def _modes(self):
        """What a thread enters that starts while its starter is watched."""
        with contextlib.ExitStack() as stack:
            if self._watching:
                stack.enter_context(_Functions(self))
                # Under such a mode torch's own operations may take other ways than they do when they are timed.
                if self._native is None or extensions.operations or implementations() - self._before:
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
            if function in _READERS or function in _ADDRESSES:
                witness._look(function, args[0])
            with backward.handling(self, function):
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


_probe = torch.zeros(1)


_TRUSTED = (
    arenas, channel, copies, execution, guards, launches, ledger, native, of_launches, operations, results, storages, tensors,
)  # fmt: skip
"""Modules that may use the native half, and whose own operations are nobody's work."""


def _handed_out():
    """``(address, bytes)`` of all memory of the GPU that torch's allocator has handed out; none where it does not say."""
    found = []
    with contextlib.suppress(RuntimeError, KeyError, TypeError):  # a private format, and an allocator may be another
        for segment in _snapshot():
            at = segment["address"]
            for block in segment["blocks"]:
                if block["state"] == "active_allocated":
                    found.append((at, block["size"]))
                at += block["size"]
    return found


def warm():
    """Works out what every runner seals, once in the process that they are forked from: it takes ten milliseconds and more."""
    if native.library is not None:
        _sealed()


@functools.cache
def _sealed():
    """The code that may use the native half, and all that must stay as it is: what ``_codes`` and ``_parts`` find."""
    ours = *_TRUSTED, sys.modules[__name__]
    return _codes(*ours), tuple(_parts(*ours, backward))


def _parts(*modules):
    """``(owner, name, value)`` for the functions and classes of these modules, and for the methods of the classes: what must stay."""
    for module in modules:
        for name, value in vars(module).items():
            if callable(value) and not name.startswith("__"):
                yield module, name, value
            if isinstance(value, type) and value.__module__ == module.__name__:
                found = {n: v for kind in reversed(value.__mro__) for n, v in vars(kind).items()}
                yield from ((value, n, v) for n, v in found.items() if isinstance(v, types.FunctionType))


def _codes(*modules):
    """The code objects of all functions in these modules, methods, lambdas and generators within them included."""
    found, left = [], [f.__code__ for m in modules for f in _functions(vars(m).values(), m)]
    while left:
        code = left.pop()
        found.append(code)
        left += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return tuple(found)


def _functions(values, module):
    for value in values:
        value = inspect.unwrap(getattr(value, "__func__", getattr(value, "fget", None)) or value)
        if isinstance(value, types.FunctionType) and value.__module__ == module.__name__:
            yield value
        elif isinstance(value, type) and value.__module__ == module.__name__:
            yield from _functions(vars(value).values(), module)
        elif isinstance(value, dict) and value is not vars(module):
            yield from _functions(value.values(), module)


def _is_own(kernel):
    """Kernels of installed packages are not the candidate's, nor are those that torch.compile writes."""
    file = getattr(getattr(kernel, "fn", None), "__code__", None)
    file = file.co_filename if file is not None else ""
    return not file.startswith(_PACKAGES + os.sep) and "torchinductor" not in file


def _is_housekeeping(kind, name, file):
    """Whether PyTorch moves a storage, or replays what it has recorded, when its operations were seen."""
    return file.startswith(_OF_TORCH) and (kind != "launch" or name.startswith("cuGraph"))


def _is_launched_by_torch():
    """Whether it is code of PyTorch that launches, for what torch.compile has written, wherever that lies."""
    frame = sys._getframe(2)
    while frame is not None and not frame.f_code.co_filename.startswith(_TORCH):
        if not frame.f_code.co_filename.startswith(_LAUNCHING):
            return False
        frame = frame.f_back
    return frame is not None


def _kernel_name(kernel):
    return f"kernel {getattr(kernel, '__name__', '')} of an installed package"


def _address(argument):
    """A tensor of another package, which stands for memory of torch's, as its address; anything else as it is."""
    if isinstance(argument, torch.Tensor):
        return argument
    address = getattr(argument, "data_ptr", None)
    return address if type(address) is int else argument


def _name(function):
    """``torch.matmul``, ``Tensor.sum``, ``torch.nn.functional.gelu``."""
    name, module = getattr(function, "__name__", str(function)), getattr(function, "__module__", None) or ""
    if name == "__get__":
        return f"Tensor.{getattr(function.__self__, '__name__', name)}"
    if isinstance(function, torch._ops.OpOverload):
        return f"torch.{operations.of(function).base}"
    if hasattr(function, "__objclass__") or getattr(function, "__qualname__", "").startswith("Tensor."):
        return f"Tensor.{name}"
    if module.startswith("torch._C._") and module != "torch._C._nn":  # torch._C._linalg has linalg_qr
        family = module.removeprefix("torch._C._")
        return f"torch.{family}.{name.removeprefix(family + '_')}"
    functional = module in ("torch._C._nn", "torch.nn.functional")
    return f"torch.nn.functional.{name}" if functional else f"torch.{name}"
