"""Kernels of a candidate's text compiled in place and by a process that never runs the candidate, for tests that compare both."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import sys
import tempfile
import textwrap
import types

import patience
import setuptools  # noqa: F401  torch imports it after each fork otherwise
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource

from kbx.executor import compiler
from kbx.runner import compilation, launches

launches.warm()  # Each forked process would read all of Triton, for the keys of its cache.

TARGET = GPUTarget("cuda", 90, 32)


@contextlib.contextmanager
def compiling(text, path, executed=False):
    """A compiler process for a candidate whose kernels are ``executed`` as Triton IR or not; gives ``send``."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        ours.close()
        try:
            compiler.serve(theirs)
        finally:
            os._exit(0)
    theirs.close()
    process = compiler.Compiler(ours)
    process.begin(text, path, executed)
    count = 0

    def send(request):
        nonlocal count
        count += 1
        return {**process.compile(json.loads(json.dumps(request))), "number": count}

    try:
        yield send
    finally:
        ours.close()
        os.waitpid(child, 0)


class InChild:
    """Runs a function in a forked process, since it changes Triton for good; what it returns goes through JSON."""

    def __init__(self, work):
        self._work = work

    def __call__(self, *args):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(int(patience.LONG_SECONDS))
            try:
                found = self._work(*args)
            except BaseException as error:
                import traceback

                found = {"error": "".join(traceback.format_exception(error))[-3000:]}
            with open(writing, "w") as pipe:
                pipe.write(json.dumps(found))
            os._exit(0)
        os.close(writing)
        with open(reading) as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        assert answer, "the child died"
        return json.loads(answer)


HEAD = """
import dataclasses, enum, functools, math, types, typing
import torch, triton
import triton.language as tl
from triton.language.extra import libdevice
"""
SIGNATURE = {"x": "*fp32", "B": "constexpr"}


class Loaded:
    """A candidate's module in this process, and the process that compiles its kernels. ``text``: HEAD is put before it."""

    def __init__(self, text, folder, send=None):
        self.text, self.path = HEAD + textwrap.dedent(text), f"{folder}/candidate.py"
        pathlib.Path(self.path).write_text(self.text)

    def load(self):
        self.module = sys.modules["candidate"] = types.ModuleType("candidate")
        self.module.__file__ = self.path
        exec(compile(self.text, self.path, "exec"), vars(self.module))

    def source(self, **constants):
        """The kernel ``kernel``, with a vector of 32 and what the module says in ``SIGNATURE`` and ``CONSTANTS``."""
        kernel = self.module.kernel
        signature = getattr(self.module, "SIGNATURE", SIGNATURE)
        constants = {**({"B": 32} if "B" in signature else {}), **getattr(self.module, "CONSTANTS", {}), **constants}
        known = {(kernel.arg_names.index(name),): value for name, value in constants.items()}
        return ASTSource(kernel, signature, known, {})


def compiled_both_ways(text, attack="", options=None):
    """IR of ``kernel`` in text, compiled apart and in place, or what was raised. ``attack``: Python that runs after the module."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = f"{folder}/triton"
        loaded = Loaded(text, folder)
        loaded.load()
        in_place = outcome(lambda: triton.compile(loaded.source(), TARGET, options))
        with compiling(loaded.text, loaded.path) as send:
            loaded.load()
            exec(textwrap.dedent(attack), vars(loaded.module))
            compilation.install(send, loaded.path, loaded.text)
            apart = outcome(lambda: triton.compile(loaded.source(), TARGET, options))
    return {"apart": apart, "in place": in_place}


def outcome(call):
    try:
        return call().asm["ttir"]
    except BaseException as error:
        causes, cause = [], error
        while cause is not None:
            line = getattr(getattr(cause, "node", None), "lineno", None)
            causes.append([type(cause).__name__, str(cause), line])
            cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
        return causes


def one_kernel(expression, before=""):
    kernel = """
@triton.jit
def kernel(x, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(x + i, EXPRESSION)
"""
    return textwrap.dedent(before) + kernel.replace("EXPRESSION", expression)
