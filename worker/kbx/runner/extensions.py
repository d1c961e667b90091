"""C++ and CUDA C++ that a candidate compiles with ``torch.utils.cpp_extension``.

torch writes the files, knows the flags and drives the compilers, all within the candidate's sandbox. Added here: reuse of libraries
that another runner of the same source has built, errors with the candidate's own lines, and without a GPU a library is compiled,
but not called.
"""

import contextlib
import functools
import hashlib
import inspect
import json
import os
import re
import shlex
import shutil
import subprocess
import types
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch

from kbx.runner import diagnostics, toolkit
from kbx.runner.gaps import Unavailable, noted

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
    """A candidate's C++ does not compile or link. ``place``: place of the first error in its file, if any."""

    def __init__(self, message, place=None):
        super().__init__(message)
        self.place = place


loaded = []
"""Modules of the candidate that are compiled from C++."""
files = set()
"""Paths of its libraries that were compiled, as Python and as torch load them."""
operations = set()
"""Operations that its libraries have registered with torch, ``namespace::name``."""
_watches = []


@functools.cache
def folder():
    """The folder of built libraries: ``DIGEST.so``, or ``DIGEST.json`` with the errors."""
    return Path(os.environ.get("TORCH_EXTENSIONS_DIR", "extensions")).absolute() / "built"


def install(path, arch=None):
    """Makes torch compile C++ this way from now on. ``path``: the candidate's file. ``arch``: without a GPU, the architecture to
    compile for.
    """
    # Imported here because the import looks for a GPU, which the zygote must not do.
    from torch.utils import cpp_extension

    build, load = cpp_extension._write_ninja_file_and_build_library, cpp_extension._import_module_from_library
    # Records what the machine lacks: anything missing later was removed by the candidate.
    lacking = {cuda: toolkit.lacking(cuda) for cuda in (False, True)}
    parameters, builder = inspect.signature(build), _Builder(build, load, path, arch is not None, lacking, {})

    def provide(*given, **named):
        builder.provide(parameters.bind(*given, **named).arguments)

    folder()
    cpp_extension.CUDA_HOME = toolkit.home()
    cpp_extension._write_ninja_file_and_build_library = provide
    cpp_extension._import_module_from_library = (
        functools.partial(_load, load) if arch is None else functools.partial(_stand_in, builder.unrun)
    )


# ---------------------------------------------------------------- building


class _Builder(NamedTuple):
    """Makes libraries by torch's own ``build`` and ``load``; ``how`` are the arguments of the former."""

    build: Callable
    load: Callable
    path: str
    ahead: bool
    """Without a GPU, for a runner that may have one."""
    lacking: dict
    """By whether there is CUDA in it: what this machine lacks to compile C++, None for nothing."""
    unrun: dict
    """Without a GPU: by folder and name of a library, what to say when it is called."""

    def provide(self, how):
        """Leaves ``name.so`` in the build folder, from another runner or from the compilers."""
        self._find_or_make(how)
        library = os.path.abspath(Path(how["build_directory"]) / f"{how['name']}.so")
        files.update((library, os.path.realpath(library)))
        if self.ahead:
            self.unrun[how["build_directory"], how["name"]] = _unrun(how)

    def _find_or_make(self, how):
        made = folder() / f"{_digest(how)}.so"
        said = made.with_suffix(".json")
        if said.exists():
            message, place = json.loads(said.read_text())
            raise CompilationError(message, place and diagnostics.Place(*place))
        target = Path(how["build_directory"]) / f"{how['name']}.so"
        if made.exists():
            shutil.copy(made, target)
            return
        # C++ that is never called need not be compiled: without a GPU all of it is compiled at the first call.
        if (lack := self.lacking[bool(how["with_cuda"] or self.ahead)]) is not None:
            raise noted(Unavailable(lack))
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
        _check_tools()
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
                raise MemoryError("compiling its C++ takes more memory than is available") from None
            raise self._failure(output, how) from None

    def _failure(self, output, how):
        generated = {Path(source).name: Path(source).read_text(errors="replace") for source in how["sources"]}
        source = Path(self.path).read_text(encoding="utf-8", errors="replace")
        lines = diagnostics.Lines(generated, source)
        return CompilationError(*diagnostics.explain(output, lines, Path(self.path).name))


def _keep(file, content):
    """Atomic, as several processes of one runner may build the same library."""
    draft = file.with_suffix(f".{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(file)


def _digest(how):
    """Hash of all inputs of a library except the toolchain, without scratch folders, which differ between runners."""
    lists = ("extra_cflags", "extra_cuda_cflags", "extra_ldflags", "extra_include_paths")
    parts = [how["name"], how["with_cuda"], *(list(how.get(name) or ()) for name in lists)]
    parts += [[Path(source).name, Path(source).read_text(errors="replace")] for source in how["sources"]]
    parts += [os.environ.get(name) for name in _BUILDING]
    scratch = str(folder().parent.parent)
    return hashlib.sha256(json.dumps(parts).replace(scratch, "{scratch}").encode()).hexdigest()


def _resolve(load, how):
    """Finds functions that are declared but not defined, by loading the library in a separate process: loading runs the candidate's
    code, whose behaviour without a GPU does not count.
    """
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


def _check_tools():
    """Raises CompilationError if the candidate's environment hides the compiler, which the machine has."""
    from torch.utils import cpp_extension

    compiler = cpp_extension.get_cxx_compiler()
    if not (words := shlex.split(compiler)) or shutil.which(words[0]) is None:
        raise CompilationError(
            f"error: the compiler {compiler!r} is not on the PATH; the candidate has set CXX or PATH"
        )
    if not cpp_extension.is_ninja_available():
        raise CompilationError("error: ninja is not on the PATH; the candidate has set PATH")


@contextlib.contextmanager
def _default(name, value):
    """Sets a variable temporarily, unless the candidate has set it."""
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
    """Temporarily replaces functions of loaded modules by calls of ``observe(function, *args, **kwargs)``.

    At other times, such as timing, they are unchanged. Functions that the candidate has fetched from a module before are not
    observed.
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


# ---------------------------------------------------------------- without a GPU


_NOT_RUN = "not run: inline C++ is called only on machines with a GPU"


def _unrun(how):
    """Message for a library that is compiled, but not called here."""
    if not how["with_cuda"]:
        return f"compiled and {_NOT_RUN}"
    architectures = _architectures(how)
    where = f" for {', '.join(architectures)}" if architectures else ""
    return f"compiled{where} and not run: inline CUDA C++ runs only on a GPU"


def _architectures(how):
    """nvcc's names of the architectures to compile for; empty for nvcc's default."""
    from torch.utils import cpp_extension

    flags = list(how.get("extra_cuda_cflags") or ())
    flags += cpp_extension._get_cuda_arch_flags(flags)
    flags += [os.environ.get(name, "") for name in ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")]
    # Machine code; else intermediate code, which the driver compiles.
    for kind in ("sm", "compute"):
        if found := set(re.findall(rf"\b{kind}_(\d+[a-z]?)", " ".join(flags))):
            return [f"{kind}_{number}" for number in sorted(found, key=lambda number: (len(number), number))]
    return []


def _stand_in(unrun, name, build_folder, is_module):
    """Stands in for a library: without a GPU a candidate that calls C++ is not judged."""
    reason = unrun.get((build_folder, name), _NOT_RUN)
    if not is_module:
        raise noted(Unavailable(reason))
    return _Compiled(name, type("_Attribute", (_Attribute,), {"reason": reason}))


class _Compiled(types.ModuleType):
    """Has any attribute, but none can be called."""

    def __init__(self, name, kind):
        super().__init__(name)
        self._kind = kind

    def __getattr__(self, name):
        return _attribute(self._kind, name)


class _Attribute:
    """A function, constant or class of a library: using it raises ``reason``; it can be inspected and passed on."""

    reason = _NOT_RUN

    def __getattr__(self, name):
        return _attribute(type(self), name)

    @classmethod
    def __torch_function__(cls, *_, **__):
        raise noted(Unavailable(cls.reason))


def _attribute(kind, name):
    if name.startswith("__"):
        raise AttributeError(name)
    return kind()


def _refuse(attribute, *_, **__):
    raise noted(Unavailable(attribute.reason))


_BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "lshift", "rshift", "and", "or", "xor",
)  # fmt: skip
for _name in (
    *_BINARY, *(f"r{name}" for name in _BINARY), "call", "neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne",
    "bool", "int", "float", "complex", "index", "round", "trunc", "floor", "ceil", "str", "format", "bytes", "len", "iter",
    "next", "contains", "getitem", "setitem", "delitem", "enter", "exit", "mro_entries", "instancecheck", "subclasscheck",
):  # fmt: skip
    setattr(_Attribute, f"__{_name}__", _refuse)
_Attribute.__hash__ = object.__hash__
