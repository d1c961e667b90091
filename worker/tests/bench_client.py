"""A bench in a forked child, spoken to as the referee and the oracle speak to it: frames on a socket, arenas as memfds."""

import array
import contextlib
import hashlib
import json
import mmap
import os
import pathlib
import signal
import socket
import tempfile
import textwrap

import patience
import setuptools  # noqa: F401  a bench without a GPU needs it, and would import it after each fork
import torch

from kbx import protocol, tensors
from kbx.executor import compiler
from kbx.executor.channel import HEAP_BYTES, Channel, Executor
from kbx.messages import runner as messages
from kbx.messages.zygote import Spawn
from kbx.oracle import session
from kbx.oracle.executions import Executions
from kbx.oracle.judge import Judgement
from kbx.runner.bench import BESIDE, serve, warm
from kbx.suite import Call
from kbx.ttir.launch import ASCENDING

# What the zygote does before it forks: one thread (a child of a threaded process hangs) and a warm compiler.
torch.set_num_threads(1)
warm()

PRELUDE = """
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

"""

ARENA_BYTES = 8 << 20


class HostArena(tensors.Arena):
    """The oracle's side of one arena: a sealed memfd."""

    def __init__(self, name, capacity=ARENA_BYTES):
        super().__init__(name, capacity)
        self.descriptor = os.memfd_create(name)
        os.ftruncate(self.descriptor, capacity)
        self.memory = mmap.mmap(self.descriptor, capacity)

    def typed(self, offset, count, dtype):
        return torch.frombuffer(self.memory, dtype=dtype, count=count, offset=offset)


class BenchClient:
    """Sends requests and reads replies; ``run`` puts arguments in and takes results out."""

    def __init__(self, sock, data_sock, executor):
        self._sock, self._data = sock, data_sock
        self._executor, self._executions = executor, Executions(lambda: Channel(executor))
        self._reader, self._writer = sock.makefile("rb"), sock.makefile("wb")
        self.inputs, self.outputs = HostArena("in"), HostArena("out")
        self.leaves = []
        """Of the tensors that the last call was given."""
        self.compiling = []
        """What ``compiling`` said since the last request."""

    def ask(self, request):
        protocol.write_frame(self._writer, protocol.encode(request))
        self.compiling.clear()
        while isinstance(answer := self._read(), messages.Compiling):
            self.compiling.append(answer.begun)
        return answer

    def _read(self):
        frame = protocol.read_frame(self._reader)
        assert frame is not None, "the bench ended"
        return protocol.decode(frame[1], messages.ANSWERS)

    def attach(self):
        listed = [{"name": a.name, "bytes": a.capacity} for a in (self.inputs, self.outputs)]
        descriptors = array.array("i", [self.inputs.descriptor, self.outputs.descriptor])
        for each in (self._data, self._executor):
            each.sendmsg([json.dumps(listed).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
        return self.ask(messages.Attach(1, listed))

    def load(self, source, *entries, operations=(), files=None, cpp=False, core=None):
        """Loads ``source`` after the usual imports."""
        source = PRELUDE + textwrap.dedent(source)
        entries = list(entries or ("run",))
        return self.ask(messages.Load(2, source, entries, list(operations), files or {}, cpp=cpp, core=core))

    def call(self, /, *args, tuning=None, **kwargs):
        self.inputs.reset()
        positional, named, self.leaves = session.lend(Call(args, kwargs), self.inputs)
        self._executions.prepare(0, self.leaves, ASCENDING, 0xFF)
        return self.ask(messages.Call(3, positional, named, tuning))

    def found(self, status="correct", message=None):
        """What the oracle would say of the launches of the last call, whose result has this status and message: None where it is the same,
        or status and message."""
        judgement = self._executions.judge(Judgement(status, message))
        found = judgement.status, judgement.message
        return None if found == (status, message) else found

    def result(self, reply):
        return tensors.decode(reply.value, lambda leaf: self.outputs.view(leaf).clone())

    def run(self, *args, **kwargs):
        """The value that the entry returns for these arguments; an answer ``raised`` fails the test."""
        reply = self.call(*args, **kwargs)
        assert isinstance(reply, messages.Returned), reply
        return self.result(reply)


@contextlib.contextmanager
def bench(source=None, *entries, arch="sm_90", executes=True, cache=None):
    """A client of a fresh bench; with ``source``, attached and loaded.

    ``executes``: whether kernels run; else the bench itself compiles them, as it does with a GPU. ``cache``: a folder for what is compiled of
    kernels that are the same in many sources, in the same lines.
    """
    ours, theirs = socket.socketpair()
    ours_data, theirs_data = socket.socketpair()
    beside = _Beside(cache)
    with tempfile.TemporaryDirectory(prefix="kbx-test-") as folder:
        child = os.fork()
        if child == 0:
            _be_bench(theirs, theirs_data, arch, folder, (ours, ours_data), beside if executes else None)
        theirs.close()
        theirs_data.close()
        beside.close()
        client = BenchClient(ours, ours_data, beside.oracle)
        try:
            if source is not None:
                client.attach()
                reply = client.load(source, *entries)
                assert isinstance(reply, messages.Loaded), reply
            yield client
        finally:
            client._reader.close()
            client._writer.close()
            ours.close()
            ours_data.close()
            beside.oracle.close()
            os.waitpid(child, 0)


def _be_bench(sock, data_sock, arch, folder, others, beside):
    """The child's life; never returns to the test."""
    try:
        for other in others:
            other.close()
        signal.alarm(int(patience.LONG_SECONDS))  # and its test fails
        os.chdir(folder)
        os.environ["TRITON_CACHE_DIR"] = f"{folder}/triton"
        os.environ["TORCH_EXTENSIONS_DIR"] = f"{folder}/extensions"
        serve(sock, data_sock, Spawn(1, 1, "cpu", arch=arch), beside and beside.start())
    finally:
        os._exit(1)


class _Beside:
    """The processes beside a bench, which end with it: started in the bench, once the client's process has made what connects them."""

    def __init__(self, cache):
        self._cache = cache
        (self.ours, self.theirs), (self.oracle, self.asked) = socket.socketpair(), socket.socketpair()
        self.heap = os.memfd_create("heap")
        os.ftruncate(self.heap, HEAP_BYTES)

    def close(self):
        """In the client, which keeps the oracle's end."""
        self.ours.close()
        self.theirs.close()
        self.asked.close()
        os.close(self.heap)

    def start(self):
        """In the bench; what it has of its executor."""
        self.oracle.close()
        compiling, theirs = socket.socketpair()
        self._fork([compiling], lambda: self._compile_for(theirs))
        self._fork([theirs], lambda: BESIDE["cpu"].execute(self.theirs, self.asked, compiling, self.heap))
        for end in (compiling, theirs, self.theirs, self.asked):
            end.close()
        return Executor(self.ours, self.heap)

    def _compile_for(self, executor):
        if self._cache is not None:
            answer, folder = compiler._answer, pathlib.Path(self._cache)

            def cached(request, source, path, *rest):
                file = folder / hashlib.sha256((json.dumps(request).replace(path, "") + source).encode()).hexdigest()
                if not file.exists():
                    draft = file.with_suffix(f".{os.getpid()}")
                    draft.write_text(json.dumps(answer(request, source, path, *rest)))
                    draft.replace(file)
                return json.loads(file.read_text())

            compiler._answer = cached
        BESIDE["cpu"].compile_for(executor)

    def _fork(self, others, serve_them):
        if os.fork() == 0:
            try:
                for end in (self.ours, *others):
                    end.close()
                signal.alarm(int(patience.LONG_SECONDS))
                serve_them()
            finally:
                os._exit(0)
