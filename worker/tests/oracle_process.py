"""A real oracle on pipes, and a stand-in for zygote and runner in the test's own process."""

import json
import mmap
import os
import pathlib
import socket
import struct
import subprocess
import sys

import patience
import torch

from kbx import tensors
from kbx.messages import oracle as messages
from kbx.protocol import decode, encode, read_frame, write_frame
from kbx.suite.values import tensors as tensors_of

sys.setrecursionlimit(10_000)  # hostile results are nested deep, and are written down here first

WORKER = pathlib.Path(__file__).parent.parent
TASKS = WORKER.parent / "tasks" / "kernelbenchx"
SEED = "00000000000000000000000000000abc"


class OracleProcess:
    """One oracle. ``ask`` sends a request and returns the decoded answer."""

    def __init__(self, *options):
        environment = {**os.environ, "PYTHONPATH": str(WORKER)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kbx.oracle", "--device", "cpu", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment,
        )  # fmt: skip
        self.hello = self.receive()
        self.ids = 0

    def receive(self):
        return decode(read_frame(self.process.stdout)[1], messages.ANSWERS)

    def ask(self, kind, /, **fields):
        self.ids += 1
        write_frame(self.process.stdin, encode(kind(id=self.ids, **fields)))
        answer = self.receive()
        assert answer.id == self.ids
        return answer

    def open(self, task, runner, seed=SEED, dtype=None):
        """Opens a task and maps its arenas as a runner would; returns ``(Opened, StandIn)``."""
        opened = self.ask(messages.Open, task=str(task), seed=seed, runner=runner, dtype=dtype)
        assert isinstance(opened, messages.Opened), opened
        return opened, StandIn(self, self.connect(runner))

    def connect(self, runner):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(patience.SECONDS)
            peer.connect("\0" + self.hello.data_address)
            peer.sendall(struct.pack(">I", runner))
            body, descriptors, _, _ = socket.recv_fds(peer, 65536, 2)
        return {
            d["name"]: Mapped(d["name"], d["bytes"], fd) for d, fd in zip(json.loads(body), descriptors, strict=True)
        }

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(patience.SECONDS) == 0
        self.process.stdout.close()


class Mapped(tensors.Arena):
    """An arena as the runner maps it."""

    def __init__(self, name, capacity, fd):
        super().__init__(name, capacity)
        self.fd, self.memory = fd, mmap.mmap(fd, capacity)

    def typed(self, offset, count, dtype):
        return torch.frombuffer(self.memory, dtype=dtype, count=count, offset=offset)


class StandIn:
    """Plays the runner's part in calls: decodes arguments, calls a function, places the result, claims."""

    def __init__(self, oracle, arenas):
        self.oracle, self.arenas = oracle, arenas

    def judge(self, index, entry, forge=None):
        """Lets ``entry`` answer one planned call; ``forge(tree, arena)`` may replace the claims. Returns ``Checked``."""
        prepared = self.oracle.ask(messages.Prepare, call=index)
        assert isinstance(prepared, messages.Prepared), prepared
        return self.oracle.ask(messages.Check, call=index, value=self.answer(prepared, entry, forge))

    def answer(self, prepared, entry, forge=None):
        lent, out = self.arenas["in"], self.arenas["out"]
        args = [tensors.decode(a, lent.view) for a in prepared.args]
        kwargs = {k: tensors.decode(v, lent.view) for k, v in prepared.kwargs.items()}
        arguments = tensors_of([*args, *kwargs.values()])
        out.reset()
        tree = tensors.encode(entry(*args, **kwargs), lambda t: claim(t, out, arguments))
        return forge(tree, out) if forge else tree


def claim(tensor, out, arguments):
    """A tensor leaf as an honest runner sends it."""
    home = tensor.untyped_storage().data_ptr()
    alias = next((i for i, a in enumerate(arguments) if a.untyped_storage().data_ptr() == home), None)
    leaf = out.put(tensor.contiguous()) | {"own_stride": list(tensor.stride()), "device": "cuda"}
    return leaf if alias is None else leaf | {"aliases": alias}


__all__ = ["SEED", "TASKS", "OracleProcess", "StandIn"]
