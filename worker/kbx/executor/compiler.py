"""Compiles kernels in a process of their own, from descriptions of them and the text of the candidate's file.

The process is as confined as the one that runs the candidate, and never runs its module. Where compiling calls Python that the
candidate wrote, or any but Triton's own, a forked child does it and is thrown away, so that nothing is left for the next kernel. Of the
child counts only the module that it has made of the kernel's text, by which such Python can still decide what is compiled: Triton's
passes run here, so that what is executed is what was compiled. Nothing is read from or written to a cache: what a candidate can write
to a disk decides nothing.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import pickle
import signal
import socket
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import triton
from triton import knobs
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget, Language
from triton.compiler import code_generator
from triton.compiler import compiler as stock
from triton.compiler.compiler import ASTSource
from triton.language import core
from triton.runtime import jit
from triton.runtime.cache import CacheManager

from kbx.executor.channel import Broken, Channel
from kbx.executor.rebuilding import Undescribed, digest, rebuild, runs_candidate
from kbx.executor.variants import Variants, kind_of
from kbx.runner import landlock

Message: TypeAlias = "dict[str, Any]"

MAX_FRAME = 64 << 20
"""Longest message either way, in bytes."""

OPTIONS = frozenset((
    "num_warps", "num_ctas", "num_stages", "maxnreg", "enable_fp_fusion", "enable_reflect_ftz", "launch_cooperative_grid",
    "launch_pdl", "supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes", "default_dot_input_precision",
    "allowed_dot_input_precisions", "max_num_imprecise_acc_default", "debug", "sanitize_overflow", "ptx_version", "ptx_options",
    "minRegAutoWS", "maxRegAutoWS", "cluster_dims",
))  # fmt: skip
"""What a kernel's options may say; the others name files or other machines."""
LIKE = "kbx_like"
"""In the metadata of a kernel that has the machine code of another variant."""


REQUEST = ("description", "options", "arch")
"""What is asked for of a kernel."""
_LOADABLE = (".cubin", ".json")
"""Files that a kernel is launched from; the others are texts on the way to them."""


def key_of(request: Message) -> str:
    """Equal for requests of one candidate that are answered alike."""
    return hashlib.sha256(json.dumps([request[name] for name in REQUEST]).encode()).hexdigest()


def loadable(reply: Message) -> str:
    """``files`` and ``hash`` of a compiled kernel as JSON, without files that no launch needs."""
    files = {name: content for name, content in reply["files"].items() if name.endswith(_LOADABLE)}
    return json.dumps({"files": files, "hash": reply["hash"]})


class CompilerEnded(Exception):
    """The process that compiled a kernel ended without an answer."""


# ---------------------------------------------------------------- the executor's side


class Compiler:
    """The executor's end of the socket to a compiler process. What comes back are claims but for the text of the IR, which only that
    process makes. Raises CompilerEnded when that process is gone."""

    def __init__(self, sock: socket.socket) -> None:
        self._channel = Channel(sock, MAX_FRAME)

    def begin(self, source: str, path: str, executed: bool = False) -> None:
        """Says once, and first, which file the candidate is in, and its text; and whether kernels are ``executed`` as Triton IR."""
        try:
            self._channel.send({"source": source, "path": path, "executed": executed})
        except Broken as error:
            raise CompilerEnded(_ENDED) from error

    def compile(self, request: Message) -> Message:
        """``description``, ``options`` and ``arch`` to ``name, hash, seconds, files``, a dict of base64; or to ``failed``."""
        self.ask(request)
        return self.answer()

    def ask(self, request: Message) -> None:
        """Begins to compile; ``answer`` is to follow before the next ``ask``, and can be read when ``connection`` can."""
        try:
            self._channel.send({name: request[name] for name in REQUEST})
        except Broken as error:
            raise CompilerEnded(_ENDED) from error

    def answer(self) -> Message:
        """As of ``compile``."""
        try:
            return _checked(self._channel.receive()[0])
        except Broken as error:
            raise CompilerEnded(_ENDED) from error

    @property
    def connection(self) -> socket.socket:
        return self._channel.connection


_ENDED = "the process that compiles kernels has ended"


def _checked(reply: Message) -> Message:
    """Only what a reply may have, each of its type."""
    failed, files, seconds = reply.get("failed"), reply.get("files"), reply.get("seconds")
    if isinstance(failed, str):
        return {"failed": failed}
    names = [reply.get("name"), reply.get("hash")]
    if (
        not isinstance(files, dict)
        or not isinstance(seconds, float)
        or not all(isinstance(name, str) for name in names)
    ):
        raise CompilerEnded("the process that compiles kernels gave no sensible answer")
    texts = {name: content for name, content in files.items() if isinstance(content, str)}
    return {"name": names[0], "hash": names[1], "seconds": seconds, "files": texts}


# ---------------------------------------------------------------- the process that compiles


def serve(sock: socket.socket) -> None:
    """Compiles what is asked for until the socket closes."""
    channel = Channel(sock, MAX_FRAME)
    with contextlib.suppress(Broken):
        begun, _ = channel.receive()
        variants = Variants() if begun["executed"] else None
        while True:
            request, _ = channel.receive()
            channel.send(_answer(request, begun["source"], begun["path"], sock, variants))


def _answer(request: Message, source: str, path: str, sock: socket.socket, variants: Variants | None) -> Message:
    start, description = time.perf_counter(), request["description"]
    target = GPUTarget("cuda", int(request["arch"]), 32)
    options = {name: _unlisted(v) for name, v in request["options"].items() if name in OPTIONS and v is not None}
    try:
        compiled = None if runs_candidate(description) else _here(description, source, path, target, options, variants)
        if compiled is None:
            made = _in_child(lambda: _module(rebuild(description, source, path), target, options), sock)
            compiled = _compiled(_Made(made["name"], made["module"], digest(description, source)), target, options)
    except _Failed as failed:
        return {"failed": failed.pickled}
    except (Exception, Undescribed) as error:
        return {"failed": _pickled(error)}
    return compiled.message() | {"seconds": time.perf_counter() - start}


class _Compiled(NamedTuple):
    name: str
    hash: str
    files: dict[str, bytes]

    def message(self) -> Message:
        files = {file: base64.b64encode(content).decode() for file, content in self.files.items()}
        return {"name": self.name, "hash": self.hash, "files": files}


def _here(
    description: Message,
    source: str,
    path: str,
    target: GPUTarget,
    options: dict[str, object],
    variants: Variants | None,
) -> _Compiled | None:
    """A kernel compiled in this process; None where that would run Python of another's than Triton's."""
    kernel = rebuild(description, source, path)
    with contextlib.suppress(_RunsPython), _no_python():
        if variants is None:
            return _compiled(kernel, target, options)
        kind = kind_of(kernel, description, options)
        if (other := variants.like(kind)) is not None:
            return _like(other, kernel, target, options)
        compiled = _compiled(kernel, target, options)
        variants.add(kind, compiled.files, options)
        return compiled
    return None


def _compiled(kernel: ASTSource, target: GPUTarget, options: dict[str, object]) -> _Compiled:
    with _without_cache() as files:
        name, key = triton.compile(kernel, target, options)
    return _Compiled(name, key, files)


def _like(other: dict[str, bytes], kernel: ASTSource, target: GPUTarget, options: dict[str, object]) -> _Compiled:
    """A kernel with its own Triton IR and the machine code of an ``other`` variant."""
    with _without_cache(last=".ttir") as made, contextlib.suppress(_Complete):
        triton.compile(kernel, target, options)
    metadata, key = json.loads(_json(other)), kernel.hash()
    stated = json.dumps(metadata | {"hash": key, LIKE: True}).encode()
    files = {file: stated if file.endswith(".json") else content for file, content in other.items()}
    return _Compiled(
        metadata["name"], key, files | {file: text for file, text in made.items() if file.endswith(".ttir")}
    )


def _unlisted(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


# ---------------------------------------------------------------- kernels that run Python of the candidate's


class _RunsPython(BaseException):
    """Compiling a kernel would run Python that is neither Triton's nor harmless. No ``Exception``, so that Triton lets it pass."""


@contextlib.contextmanager
def _no_python() -> Iterator[None]:
    """Meanwhile a call in a kernel is one of the language, of a kernel or of arithmetic, or raises _RunsPython."""
    call = code_generator.CodeGenerator.call_Function

    def checked(generator: Any, node: object, function: object, *given: object) -> object:
        if not _is_harmless(function) and function not in generator.builtin_namespace.values():
            raise _RunsPython
        return call(generator, node, function, *given)

    code_generator.CodeGenerator.call_Function = checked
    try:
        yield
    finally:
        code_generator.CodeGenerator.call_Function = call


_OF_KERNELS = tuple(
    getattr(module, name)
    for module, names in (
        (jit, ("JITFunction", "ConstexprFunction", "BoundConstexprFunction")),
        (code_generator, ("BoundJITMethod",)),
    )
    for name in names
    if hasattr(module, name)
)


def _is_harmless(function: Any) -> bool:
    if isinstance(function, _OF_KERNELS):
        return True
    if isinstance(function, type):
        return function.__module__.partition(".")[0] == "triton"
    owner = getattr(function, "__self__", None)
    if isinstance(function, types.MethodType) or (owner is not None and not isinstance(owner, types.ModuleType)):
        return isinstance(owner, (core.base_value, core.dtype, str, int, float, tuple))
    return core.is_builtin(function) or getattr(function, "__module__", None) == "math"


class _Failed(Exception):
    """Compiling failed in the child, which has pickled why."""

    def __init__(self, pickled: str) -> None:
        super().__init__()
        self.pickled = pickled


class _Complete(BaseException):
    """Ends a compilation that has gone as far as it should. No ``Exception``, so that Triton lets it pass."""


class _Made(ASTSource):  # type: ignore[misc]
    """A kernel of which the module is there: its text, before any of Triton's passes."""

    def __init__(self, name: str, text: str, key: str) -> None:
        self.language, self.ext, self.name = Language.TRITON, "ttir", name
        self.signature: Message = {}
        self.constants: Message = {}
        self.attrs: Message = {}
        self._text, self._key = text, key

    def hash(self) -> str:
        return self._key

    def make_ir(self, *given: object) -> object:
        with tempfile.NamedTemporaryFile("w", suffix=".ttir") as file:
            file.write(self._text)
            file.flush()
            module = ir.parse_mlir_module(file.name, given[-1])
        module.context = given[-1]
        return module


def _module(kernel: ASTSource, target: GPUTarget, options: dict[str, object]) -> Message:
    """The text of the module that Triton makes of a kernel, before its passes; and the kernel's name."""
    made: Message = {}
    make_ir = kernel.make_ir

    def make_and_stop(*given: object) -> None:
        made.update(name=kernel.name, module=str(make_ir(*given)))
        raise _Complete

    kernel.make_ir = make_and_stop
    with _without_cache(), contextlib.suppress(_Complete):
        triton.compile(kernel, target, options)
    return made


def _in_child(make: Callable[[], Message], sock: socket.socket) -> Message:
    """What ``make`` gives in a forked process. Raises _Failed with what it raises there, CompilerEnded if the process ends."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        try:
            sock.close()
            ours.close()
            _keep_from_writing()
            Channel(theirs).send(_made_or_failed(make))
        finally:
            os._exit(0)
    theirs.close()
    reply = None
    with ours, contextlib.suppress(Broken):
        # Not until its end: the candidate's code may have forked a process that keeps it open.
        reply, _ = Channel(ours, MAX_FRAME).receive()
    if reply is not None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if reply is None:
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit status {os.WEXITSTATUS(status)}"
        raise CompilerEnded(f"compiling a kernel ended with {how}")
    if isinstance(failed := reply.get("failed"), str):
        raise _Failed(failed)
    return {name: str(reply[name]) for name in ("name", "module")}


def _keep_from_writing() -> None:
    """From now on this process and all that it starts can change no file: what others compile passes through files."""
    with contextlib.suppress(OSError):  # where there is no Landlock
        landlock.restrict([("/", landlock.READ), (os.devnull, landlock.DEVICE)])


def _made_or_failed(make: Callable[[], Message]) -> Message:
    try:
        return make()
    except (Exception, Undescribed) as error:
        return {"failed": _pickled(error)}


@contextlib.contextmanager
def _without_cache(last: str = "") -> Iterator[dict[str, bytes]]:
    """Meanwhile Triton finds nothing compiled, and what it compiles lands in the dict that this gives, and in no kernel. Raises _Complete
    in it after a file whose name ends with ``last``, if that is anything.
    """
    files: dict[str, bytes] = {}

    class Kept(CacheManager):  # type: ignore[misc]
        def get_file(self, filename: str) -> None:
            return None

        def get_group(self, filename: str) -> None:
            return None

        def put(self, data: object, filename: str, binary: bool = True) -> str:
            files[filename] = data if isinstance(data, bytes) else str(data).encode()
            if last and filename.endswith(last):
                raise _Complete
            return filename

        def put_group(self, filename: str, group: dict[str, str]) -> None:
            pass

    kernel, manager, listener = stock.CompiledKernel, knobs.cache.manager_class, knobs.compilation.listener
    stock.CompiledKernel = lambda source, group, key: (json.loads(_json(files))["name"], key)
    knobs.cache.manager_class, knobs.compilation.listener = Kept, None
    try:
        yield files
    finally:
        stock.CompiledKernel, knobs.cache.manager_class, knobs.compilation.listener = kernel, manager, listener


def _json(files: dict[str, bytes]) -> bytes:
    return next(content for name, content in files.items() if name.endswith(".json"))


# ---------------------------------------------------------------- failures


def _pickled(error: BaseException) -> str:
    """An exception and its causes, for the process that runs the candidate; nobody else unpickles them."""
    return base64.b64encode(pickle.dumps([_portable(each) for each in chain(error)])).decode()


def chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and its causes, outermost first."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def _portable(error: BaseException) -> BaseException:
    try:
        loaded = pickle.loads(pickle.dumps(error))
        if type(loaded) is type(error) and str(loaded) == str(error):
            return error
    except Exception:
        pass
    return Exception(_text(error))


def _text(error: BaseException) -> str:
    with contextlib.suppress(Exception):
        return str(error)
    return type(error).__name__
