"""C++ and CUDA C++ that a candidate compiles with ``torch.utils.cpp_extension``.

torch writes the files, knows the flags and drives the compilers, all within the candidate's sandbox. What is added: a library is
looked for among those that another runner of the same source has built, errors speak of the candidate's own lines, and
without a GPU a library is compiled, not called.
"""

import contextlib
import functools
import hashlib
import inspect
import json
import os
import shutil
import subprocess
import types
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch

from kbx.runner import diagnostics, toolkit
from kbx.runner.interpreter import Unsupported

MODULE = "cpp_extension"
"""Who does not name it in the source does not compile C++."""
_JOBS = "2"
"""Files compiled at the same time: with torch's headers each takes up to 2 GiB of memory."""
_CHECK_SECONDS = 60
_BUILDING = (
    "CXX", "CC", "PYTORCH_NVCC", "TORCH_CUDA_ARCH_LIST", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CPATH", "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
)  # fmt: skip
"""Variables that change what is built."""


class CompilationError(Exception):
    """A candidate's C++ does not compile or link. ``place``: where in its file the first error is, if anywhere."""

    def __init__(self, message, place=None):
        super().__init__(message)
        self.place = place


class Unavailable(Unsupported):
    """This machine cannot compile C++, or not run what it has compiled; the message says it all."""

    def __init__(self, message):
        Exception.__init__(self, message)
        self.feature = None


loaded = []
"""Modules of the candidate that are compiled from C++."""
operations = set()
"""Operations that its libraries have registered with torch, ``namespace::name``."""
_watches = []


@functools.cache
def folder():
    """Where libraries lie that were built: ``DIGEST.so``, or ``DIGEST.json`` with what is wrong."""
    return Path(os.environ.get("TORCH_EXTENSIONS_DIR", "extensions")).absolute() / "built"


def install(path, arch=None):
    """Makes torch compile C++ this way from now on. ``path``: the candidate's file. ``arch``: there is no GPU, and this is
    what code is for."""
    # Imported here because it looks for a GPU, which the zygote must not.
    from torch.utils import cpp_extension

    build, load = cpp_extension._write_ninja_file_and_build_library, cpp_extension._import_module_from_library
    parameters, builder = inspect.signature(build), _Builder(build, load, path, arch is not None)

    def provide(*given, **named):
        builder.provide(parameters.bind(*given, **named).arguments)

    folder()
    cpp_extension.CUDA_HOME = toolkit.home()
    cpp_extension._write_ninja_file_and_build_library = provide
    cpp_extension._import_module_from_library = functools.partial(_load if arch is None else _stand_in(arch), load)


# ---------------------------------------------------------------- building


class _Builder(NamedTuple):
    """Makes libraries by torch's own ``build`` and ``load``; ``how`` are the arguments of the former."""

    build: Callable
    load: Callable
    path: str
    ahead: bool
    """Without a GPU, for a runner that may have one."""

    def provide(self, how):
        """Leaves ``name.so`` in the build folder, from another runner or from the compilers."""
        made = folder() / f"{_digest(how)}.so"
        said = made.with_suffix(".json")
        if said.exists():
            message, place = json.loads(said.read_text())
            raise CompilationError(message, place and diagnostics.Place(*place))
        target = Path(how["build_directory"]) / f"{how['name']}.so"
        if made.exists():
            shutil.copy(made, target)
            return
        # What is never called need not be compiled: without a GPU all C++ waits for nvcc.
        _require(how["with_cuda"] or self.ahead)
        made.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._compile(how)
            if self.ahead:
                _resolve(self.load, how)
        except CompilationError as error:
            _keep(said, json.dumps([str(error), error.place]).encode())
            raise
        _keep(made, target.read_bytes())

    def _compile(self, how):
        # Without symbols a library is half as large.
        how = {**how, "verbose": False, "extra_ldflags": [*(how.get("extra_ldflags") or ()), "-Wl,-s"]}
        try:
            with _default("MAX_JOBS", _JOBS):
                self.build(**how)
        except RuntimeError as error:
            if not isinstance(error.__cause__, subprocess.CalledProcessError):
                raise
            output = (error.__cause__.output or b"").decode(errors="replace")
            if diagnostics.lacks_memory(output):
                raise MemoryError("compiling its C++ takes more memory than there is") from None
            raise self._failure(output, how) from None

    def _failure(self, output, how):
        generated = {Path(source).name: Path(source).read_text(errors="replace") for source in how["sources"]}
        source = Path(self.path).read_text(encoding="utf-8", errors="replace")
        lines = diagnostics.Lines(generated, source)
        return CompilationError(*diagnostics.explain(output, lines, Path(self.path).name))


def _keep(file, content):
    """At once: several processes of one runner may build the same."""
    draft = file.with_suffix(f".{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(file)


def _digest(how):
    """Of everything that a library is made of but the toolchain. Scratch folders differ from runner to runner."""
    lists = ("extra_cflags", "extra_cuda_cflags", "extra_ldflags", "extra_include_paths")
    parts = [how["name"], how["with_cuda"], *(list(how.get(name) or ()) for name in lists)]
    parts += [[Path(source).name, Path(source).read_text(errors="replace")] for source in how["sources"]]
    parts += [os.environ.get(name) for name in _BUILDING]
    scratch = str(folder().parent.parent)
    return hashlib.sha256(json.dumps(parts).replace(scratch, "{scratch}").encode()).hexdigest()


def _resolve(load, how):
    """A function that is declared and never defined shows when the library is loaded: in a process of its own, since that runs
    the candidate's code, and what that does without a GPU says nothing."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            _tell_unresolved(load, how, writer)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        symbol = pipe.read().decode(errors="replace")
    os.waitpid(child, 0)
    if symbol:
        raise CompilationError(f"error: {_demangled(symbol)} is declared and never defined")


def _tell_unresolved(load, how, writer):
    import signal

    signal.alarm(_CHECK_SECONDS)
    try:
        load(how["name"], how["build_directory"], True)
    except ImportError as error:
        _, _, symbol = str(error).partition("undefined symbol: ")
        os.write(writer, symbol.encode())


def _demangled(symbol):
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(["c++filt", symbol], capture_output=True, text=True, timeout=10).stdout.strip()
        return told or symbol
    return symbol


def _require(cuda):
    """Raises Unavailable, naming what this machine lacks."""
    from torch.utils import cpp_extension

    if cuda and torch.version.cuda is None:
        raise Unavailable(f"inline CUDA C++ needs a PyTorch with CUDA, and this is {torch.__version__}")
    if cuda and (home := toolkit.home()) is None:
        raise Unavailable(
            "inline CUDA C++ needs nvcc, which this machine lacks; install the CUDA toolkit or let CUDA_HOME name its folder"
        )
    if cuda and not toolkit.has_runtime(home):
        raise Unavailable(
            f"inline CUDA C++ needs libcudart.so, which the CUDA toolkit in {home} lacks; install it whole"
        )
    compiler = cpp_extension.get_cxx_compiler()
    if shutil.which(compiler) is None:
        raise Unavailable(f"inline C++ needs a compiler, and {compiler} is not on the PATH")
    if not cpp_extension.is_ninja_available():
        raise Unavailable("inline C++ needs ninja, which is not on the PATH")


@contextlib.contextmanager
def _default(name, value):
    """Sets a variable for a while, unless the candidate has."""
    if name in os.environ:
        yield
        return
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


# ---------------------------------------------------------------- loading


def _load(load, name, build_folder, is_module):
    before = set(torch._C._dispatch_get_all_op_names())
    module = load(name, build_folder, is_module)
    operations.update(op.split(".")[0] for op in torch._C._dispatch_get_all_op_names() if op not in before)
    if is_module:
        loaded.append(module)
        for watch in _watches:
            watch.join(module)
    return module


class _Watch:
    def __init__(self, observe):
        self._observe, self._replaced = observe, []

    def join(self, module):
        for name, function in list(vars(module).items()):
            if callable(function) and not isinstance(function, type):
                self._replaced.append((module, name, function))
                setattr(module, name, functools.partial(self._observe, function))

    def leave(self):
        for module, name, function in self._replaced:
            setattr(module, name, function)


@contextlib.contextmanager
def watched(observe):
    """For a while functions of loaded modules are called by ``observe(function, *args, **kwargs)``.

    At other times, when calls are timed, nothing is in their way. Those that the candidate has taken out of a module before are
    not seen.
    """
    watch = _Watch(observe)
    _watches.append(watch)
    for module in loaded:
        watch.join(module)
    try:
        yield
    finally:
        _watches.remove(watch)
        watch.leave()


def _stand_in(arch):
    """A loader for a machine without a GPU: whose code is called there is not judged."""
    reason = f"compiled for {arch} and not run: inline CUDA C++ runs only on a GPU"

    def load(_, name, build_folder, is_module):
        if not is_module:
            raise Unavailable(reason)
        return _Compiled(name, reason)

    return load


class _Compiled(types.ModuleType):
    """Has every function, and none that can be called."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def function(*args, **kwargs):
            raise Unavailable(self.__doc__)

        return function
