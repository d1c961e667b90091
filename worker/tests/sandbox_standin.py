"""A runner's main loop for tests of the sandbox: executes the source it is sent and answers with what that prints."""

import json
import os
import struct
import sys
import traceback
import types

HEADER = struct.Struct(">II")


def warm():
    """As the bench does: where there are no namespaces a runner is another user, to whom this folder may be closed."""
    from kbx import shapes  # noqa: F401
    from kbx.messages import runner  # noqa: F401


def before_fork(spawn):
    """Nothing is loaded later."""


def serve(sock, data_sock, spawn, executor):
    """Each frame is Python source; its variable ``answer`` goes back as JSON, an exception as text."""
    stream = sock.makefile("rb")
    while header := stream.read(HEADER.size):
        length, channel = HEADER.unpack(header)
        assert channel == 0
        scope = {"sock": sock, "data_sock": data_sock, "spawn": spawn, "executor": executor, "answer": None}
        source = stream.read(length).decode()
        try:
            exec(compile(source, "candidate.py", "exec"), scope)
            reply = {"answer": scope["answer"]}
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            reply = {"error": f"{type(error).__name__}: {error}"}
        payload = json.dumps(reply).encode()
        sock.sendall(HEADER.pack(len(payload), 0) + payload)


def execute(runner, oracle, compiler, heap):
    """Tells the runner which processes there are, then passes on what it hears from the oracle and from the one that compiles."""
    runner.sendall(f"{os.getpid()} {compiler.recv(100).decode()}".encode())
    runner.recv(1)
    runner.sendall(oracle.recv(100) + os.pread(heap, 100, 0))
    runner.recv(1)


def keep_records(runner, oracle, compiler, heap):
    """Answers the oracle with what the runner says, heap or not."""
    assert (oracle.recv(2), heap) == (b"[]", None), "no arenas, no memory that is shared"
    oracle.sendall(runner.recv(100) + oracle.recv(100))
    runner.recv(1)


def compile_for(executor):
    executor.sendall(str(os.getpid()).encode())
    executor.recv(1)


BESIDE = {
    "cpu": types.SimpleNamespace(execute=execute, compile_for=compile_for),
    "cuda": types.SimpleNamespace(execute=keep_records, compile_for=compile_for),
}
