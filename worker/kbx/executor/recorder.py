"""Beside a runner on a GPU: keeps the records of its calls with their kernels, for replays that are made elsewhere. The oracle brings kernels
that were compiled ahead (``kbx.executor.ahead``); the others are compiled from when the runner tells of them.

The runner launches its kernels itself and tells what it does; no answer is owed to it, so that it does not wait.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
from collections import deque
from collections.abc import Sequence

import torch

from kbx.executor import replay
from kbx.executor.channel import Broken, Channel
from kbx.executor.compiler import Compiler, CompilerEnded, key_of, loadable
from kbx.executor.rebuilding import is_own

_MESSAGE_CHARS = 4096


def serve(runner: socket.socket, oracle: socket.socket | None, compiler: socket.socket, heap: int | None) -> None:
    """Answers until the runner has ended, as ``kbx.executor.server`` does; ``heap`` is None on a GPU."""
    if oracle is None:
        return
    with contextlib.suppress(Broken, CompilerEnded):
        oracle.recv(len("[]"), socket.MSG_WAITALL)  # no arenas: they are the device's
        _Recorder(Channel(runner), Channel(oracle), Compiler(compiler)).run()


class _Recorder:
    """State for one candidate."""

    def __init__(self, runner: Channel, oracle: Channel, compiler: Compiler) -> None:
        self._runner, self._oracle, self._compiler = runner, oracle, compiler
        self._records = replay.Records()
        self._requests: dict[int, replay.Message] = {}
        """For the compiler, by the runner's number of the kernel."""
        self._compiled: dict[str, replay.Message | None] = {}
        """By the key of the request; None: it failed."""
        self._wanted: deque[tuple[str, replay.Message]] = deque()
        """What is not compiled yet, by key; the first is being compiled."""
        self._told: set[int] = set()
        """Kernels that the oracle has."""
        self._base = 0
        """The runner's address of what it is lent."""
        self._lent: list[int] = []
        self._older: dict[int, torch.Tensor] = {}
        self._older_told: dict[int, torch.Tensor] = {}
        """What the oracle has of it."""

    def run(self) -> None:
        """Raises Broken where one of the two has ended."""
        poll = select.poll()
        for connection in (self._runner.connection, self._oracle.connection, self._compiler.connection):
            poll.register(connection, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            # The runner first: it has told all of a call before the oracle can ask about it.
            if self._runner.connection.fileno() in ready:
                self._hear(*self._runner.receive())
            elif self._oracle.connection.fileno() in ready:
                self._answer(self._oracle.receive()[0])
            else:
                self._take_compiled()

    def _hear(self, message: replay.Message, blobs: Sequence[bytearray]) -> None:
        match message:
            case {"begin": source, "path": path}:
                self._compiler.begin(str(source), str(path))
            case {"attach": {"in": base}}:
                self._base = int(base)
            case {"kernel": number, **request}:
                self._requests[number] = request
                self._want(request)
            case {"older": start} if blobs:
                self._older[start] = torch.frombuffer(blobs[0], dtype=torch.uint8)
                self._records.keep(start, self._older[start])
            case {"older": start} if start in self._older:
                self._records.keep(start, self._older[start])
            case {"launch": _}:
                self._records.launched(message)
            case {"record": _}:
                self._records.add(message, [self._base + offset for offset in self._lent])
            case _:
                raise Broken("the runner tells something unknown")

    def _answer(self, message: replay.Message) -> None:
        match message:
            case {"prepare": _, "lent": lent}:
                self._lent = [offset for offset, _, _ in lent]
                self._records.begin()
                self._oracle.send({"prepared": True})  # the call is made after that alone
            case {"compiled": kernels}:
                self._compiled |= {key: json.loads(kernel) for key, kernel in kernels.items()}
            case {"replay": back, "lent": lent}:
                self._tell(back, [self._base + offset for offset, _, _ in lent])
            case _:
                raise Broken("the oracle asks for something unknown")

    def _tell(self, back: int, lent: Sequence[int]) -> None:
        """The oracle gets a record, and beside it what it has not got yet: what older memory held, and kernels as JSON."""
        try:
            record = self._records.find(back, lent)
            numbers = dict.fromkeys(each["launch"] for each in record.launches)
            new = [number for number in numbers if number not in self._told]
            files = [json.dumps(self._kernel(number)).encode() for number in new]
        except (replay.Unfit, CompilerEnded) as error:
            elsewhere = isinstance(error, replay.Elsewhere)
            self._oracle.send({"unfit": str(error)[:_MESSAGE_CHARS], "elsewhere": elsewhere})
            return
        self._told.update(new)
        changed = [(at, content) for at, content in record.older if self._older_told.get(at) is not content]
        self._older_told.update(record.older)
        told = {
            "record": record.message,
            "launches": record.launches,
            "older": [at for at, _ in record.older],
            "changed": [at for at, _ in changed],
            "kernels": new,
            "base": self._base,
        }
        self._oracle.send(told, [*(content.numpy().data for _, content in changed), *files])

    def _kernel(self, number: int) -> replay.Message:
        """``files`` and ``hash`` of a kernel, and whether it is the candidate's ``own``."""
        if (request := self._requests.get(number)) is None:
            raise replay.Unfit("a kernel that was not described")
        key = key_of(request)
        while key not in self._compiled:
            self._take_compiled()
        if (found := self._compiled[key]) is None:
            raise replay.Unfit("a kernel that cannot be compiled without the candidate")
        return found | {"own": is_own(request["description"])}

    def _want(self, request: replay.Message) -> None:
        """Has a kernel compiled that is not, when those before it are."""
        key = key_of(request)
        if key in self._compiled or any(key == wanted for wanted, _ in self._wanted):
            return
        self._wanted.append((key, request))
        if len(self._wanted) == 1:
            self._compiler.ask(request)

    def _take_compiled(self) -> None:
        """Waits for the kernel that is being compiled, and begins with the next."""
        reply = self._compiler.answer()
        key, _ = self._wanted.popleft()
        self._compiled[key] = None if "failed" in reply else json.loads(loadable(reply))
        if self._wanted:
            self._compiler.ask(self._wanted[0][1])
