"""Has kernels compiled by another process, which never runs the candidate, in place of ``triton.compile``.

What comes back becomes Triton's own ``CompiledKernel``, with all files of the compilation, and failures become the exceptions that
Triton raised there.
"""

import base64
import contextlib
import functools
import json
import os
import pickle
import tempfile
import threading
from pathlib import Path

import triton
from triton import knobs
from triton.compiler.compiler import ASTSource, CompiledKernel

from kbx.executor.compiler import OPTIONS, key_of
from kbx.executor.rebuilding import Undescribed
from kbx.runner import gaps, kernels


def install(send, path, text):
    """From now on ``send(request)`` compiles each kernel of this process: ``description``, ``options`` and ``arch`` to
    ``name, hash, seconds, files`` and ``number``, or to ``failed``.

    ``path``: the candidate's file; ``text``: what is in it.
    """
    compilation = _Compilation(send, path, text)
    for module in (triton.compiler.compiler, triton.compiler, triton):
        module.compile = compilation.compile


def remember(path, text):
    """From now on the sources that Triton compiles in this process can be described: ``source.kbx_request()`` is the request of ``install``."""

    def described(src, request):
        src.kbx_request = request

    _tell_each(path, text, described)


class Collection:
    """Requests of ``install``, each in a file of ``folder`` that is named ``KERNEL-KEY``: what is before the dash is equal for all configurations
    and arguments of one kernel."""

    def __init__(self, folder):
        self.folder = folder
        self.goes_on = True
        """Whether this process, and those forked from it, add what they compile."""
        self._alone = False

    def begin(self, path, text):
        """From now on the request for each kernel that Triton compiles is kept. ``path`` and ``text`` as for ``install``."""
        _tell_each(path, text, self._keep)

    def note(self, compile_):
        """Keeps the request for the kernel that ``compile_()`` compiles, which is not compiled then."""
        if not self.goes_on:
            return
        self._alone = True
        try:
            compile_()
        except _Noted:
            pass
        finally:
            self._alone = False

    def _keep(self, source, request):
        if self.goes_on:
            with contextlib.suppress(Exception, Undescribed):
                told = request()
                draft = self.folder.with_name(f"{self.folder.name}-{os.getpid()}")
                draft.write_text(json.dumps(told), encoding="utf-8")
                draft.rename(self.folder / f"{source.fn.cache_key}-{key_of(told)}")
        if self._alone:
            raise _Noted


class _Noted(Exception):
    """A kernel is not compiled, as only its request is wanted."""


def _tell_each(path, text, tell):
    """From now on ``tell(source, request)`` hears of each kernel before Triton compiles it; ``request()`` is that of ``install``."""
    stock = triton.compile

    def compile(src, target=None, options=None, **more):
        arch = (target or triton.runtime.driver.active.get_current_target()).arch
        tell(src, functools.partial(_request, src, options, arch, path, text))
        return stock(src, target=target, options=options, **more)

    for module in (triton.compiler.compiler, triton.compiler, triton):
        module.compile = compile


def _request(src, options, arch, path, text):
    if not isinstance(src, ASTSource):
        raise gaps.noted(gaps.Unsupported("a kernel given as IR"))
    return {"description": kernels.describe(src, path, text), "options": _plain(options or {}), "arch": arch}


class _Compilation:
    def __init__(self, send, path, text):
        self._send, self._path, self._text = send, path, text
        self._folder, self._done, self._lock = None, {}, threading.Lock()

    def compile(self, src, target=None, options=None, **_):
        """In place of ``triton.compile``."""
        target = target or triton.runtime.driver.active.get_current_target()
        if isinstance(src, ASTSource):
            src.hash()  # what Triton refuses before it compiles, and what the kernel's globals are, which must not change
        request = _request(src, options, target.arch, self._path, self._text)
        key = key_of(request)
        with self._lock:
            reply, first = self._done.get(key), key not in self._done
            if first:
                reply = self._send(request)
        if "failed" in reply:
            _raise_again(reply["failed"])
        if first:
            reply = self._keep(key, reply)
        src.kbx_number = reply["number"]
        kernel = CompiledKernel(src, reply["group"], reply["hash"])
        _tell_listener(src, kernel, reply, not first)
        return kernel

    def _keep(self, key, reply):
        """Writes a kernel's files, and remembers it in case the same is wanted again."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="kbx-kernels-")
        folder = Path(self._folder, key)
        folder.mkdir(exist_ok=True)
        group = {}
        for name, content in reply["files"].items():
            place = folder / name
            place.write_bytes(base64.b64decode(content))
            group[name] = str(place)
        self._done[key] = {
            "number": reply["number"],
            "hash": reply["hash"],
            "seconds": reply["seconds"],
            "group": group,
        }
        return self._done[key]


def _plain(options):
    """Triton's options as data. Those that name files are left out, and the file is compiled as it stands."""
    libraries = dict(options.get("extern_libs") or ())
    if set(libraries) - {"libdevice"}:
        raise gaps.noted(gaps.Unsupported("extern_libs"))
    return {name: value for name, value in options.items() if name in OPTIONS and _is_plain(value)}


def _is_plain(value):
    return type(value) in (bool, int, float, str) or (type(value) in (tuple, list) and all(map(_is_plain, value)))


def _tell_listener(src, kernel, reply, known):
    if knobs.compilation.listener:
        times = knobs.CompileTimes(0 if known else int(reply["seconds"] * 1e6), [], 0)
        knobs.compilation.listener(
            src=src, metadata=kernel.metadata._asdict(), metadata_group=reply["group"], times=times, cache_hit=known
        )


def _raise_again(failed):
    errors = pickle.loads(base64.b64decode(failed))
    if (gap := next((e for e in errors if isinstance(e, Undescribed)), None)) is not None:
        raise gaps.noted(gaps.Unsupported(str(gap)))
    for error, cause in zip(errors, [*errors[1:], None], strict=True):
        error.__cause__ = cause
    raise errors[0]
