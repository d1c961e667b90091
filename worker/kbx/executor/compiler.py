"""Compiles kernels in a process of their own, from descriptions of them and the text of the candidate's file.

The process is as confined as the one that runs the candidate, and never runs its module. Where compiling calls Python that the
candidate wrote, a forked child does it and is thrown away, so that nothing is left for the next kernel. Of the child counts only
the module that it has made of the kernel's text: Triton's passes run here, so that what is executed is what was compiled. Nothing is
read from or written to a cache: what a candidate can write to a disk decides nothing.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import pickle
import signal
import socket
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import triton
from triton import knobs
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget, Language
from triton.compiler import compiler as stock
from triton.compiler.compiler import ASTSource
from triton.runtime.cache import CacheManager

from kbx.executor.rebuilding import Undescribed, digest, rebuild, runs_candidate

Message: TypeAlias = "dict[str, Any]"

MAX_FRAME = 64 << 20
"""Longest message either way, in bytes."""
_LENGTH = struct.Struct(">I")

OPTIONS = frozenset((
    "num_warps", "num_ctas", "num_stages", "maxnreg", "enable_fp_fusion", "enable_reflect_ftz", "launch_cooperative_grid",
    "launch_pdl", "supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes", "default_dot_input_precision",
    "allowed_dot_input_precisions", "max_num_imprecise_acc_default", "debug", "sanitize_overflow", "ptx_version", "ptx_options",
    "minRegAutoWS", "maxRegAutoWS", "cluster_dims",
))  # fmt: skip
"""What a kernel's options may say; the others name files or other machines."""


class CompilerEnded(Exception):
    """The process that compiled a kernel ended without an answer."""


# ---------------------------------------------------------------- the executor's side


class Compiler:
    """The executor's end of the socket to a compiler process. What comes back are claims but for the text of the IR, which only that
    process makes. Raises CompilerEnded when that process is gone."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def begin(self, source: str, path: str) -> None:
        """Says once, and first, which file the candidate is in, and its text."""
        _send(self._sock, {"source": source, "path": path})

    def compile(self, request: Message) -> Message:
        """``description``, ``options`` and ``arch`` to ``name, hash, seconds, files``, a dict of base64; or to ``failed``."""
        try:
            _send(self._sock, {name: request[name] for name in ("description", "options", "arch")})
            reply = _receive(self._sock)
        except (OSError, ValueError, RecursionError) as error:
            raise CompilerEnded("the process that compiles kernels has ended") from error
        if reply is None:
            raise CompilerEnded("the process that compiles kernels has ended")
        return _checked(reply)


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


def _send(sock: socket.socket, message: Message) -> None:
    payload = json.dumps(message).encode()
    if len(payload) > MAX_FRAME:
        raise ValueError(f"a message of {len(payload)} bytes, limit {MAX_FRAME}")
    sock.sendall(_LENGTH.pack(len(payload)) + payload)


def _receive(sock: socket.socket) -> Message | None:
    """The next message; None at the end."""
    if (header := _exactly(sock, _LENGTH.size)) is None:
        return None
    (length,) = _LENGTH.unpack(header)
    if length > MAX_FRAME or (payload := _exactly(sock, length)) is None:
        return None
    message = json.loads(payload)
    if not isinstance(message, dict):
        raise ValueError("not a message")
    return message


def _exactly(sock: socket.socket, count: int) -> bytes | None:
    parts, left = [], count
    while left:
        if not (part := sock.recv(min(left, 1 << 20))):
            return None
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


# ---------------------------------------------------------------- the process that compiles


def serve(sock: socket.socket) -> None:
    """Compiles what is asked for until the socket closes."""
    if (begun := _receive(sock)) is None:
        return
    while (request := _receive(sock)) is not None:
        _send(sock, _answer(request, begun["source"], begun["path"], sock))


def _answer(request: Message, source: str, path: str, sock: socket.socket) -> Message:
    start = time.perf_counter()
    description, options = request["description"], request["options"]
    target = GPUTarget("cuda", int(request["arch"]), 32)
    wanted = {name: _unlisted(v) for name, v in options.items() if name in OPTIONS and v is not None}
    try:
        if runs_candidate(description):
            made = _in_child(lambda: _module(rebuild(description, source, path), target, wanted), sock)
            kernel: ASTSource = _Made(made["name"], made["module"], digest(description, source))
        else:
            kernel = rebuild(description, source, path)
        with _without_cache() as files:
            name, key = triton.compile(kernel, target, wanted)
    except _Failed as failed:
        return {"failed": failed.pickled}
    except (Exception, Undescribed) as error:
        return {"failed": _pickled(error)}
    packed = {file: base64.b64encode(content).decode() for file, content in files.items()}
    return {"name": name, "hash": key, "seconds": time.perf_counter() - start, "files": packed}


def _unlisted(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


# ---------------------------------------------------------------- kernels that run Python of the candidate's


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
            _send(theirs, _made_or_failed(make))
        finally:
            os._exit(0)
    theirs.close()
    with ours:
        reply = _receive(ours)  # not until its end: the candidate's code may have forked a process that keeps it open
    if reply is not None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if reply is None:
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit status {os.WEXITSTATUS(status)}"
        raise CompilerEnded(f"compiling a kernel ended with {how}")
    if isinstance(failed := reply.get("failed"), str):
        raise _Failed(failed)
    return {name: str(reply[name]) for name in ("name", "module")}


def _made_or_failed(make: Callable[[], Message]) -> Message:
    try:
        return make()
    except (Exception, Undescribed) as error:
        return {"failed": _pickled(error)}


@contextlib.contextmanager
def _without_cache() -> Iterator[dict[str, bytes]]:
    """Meanwhile Triton finds nothing compiled, and what it compiles lands in the dict that this gives, and in no kernel."""
    files: dict[str, bytes] = {}

    class Kept(CacheManager):  # type: ignore[misc]
        def get_file(self, filename: str) -> None:
            return None

        def get_group(self, filename: str) -> None:
            return None

        def put(self, data: object, filename: str, binary: bool = True) -> str:
            files[filename] = data if isinstance(data, bytes) else str(data).encode()
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
    """An exception and its causes, outermost first, for the process that runs the candidate; nobody else unpickles them."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and not any(cause is each for each in causes):
        causes.append(cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return base64.b64encode(pickle.dumps([_portable(each) for each in causes])).decode()


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
