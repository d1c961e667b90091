"""What the executor answers: the runner's launches, and the oracle's questions about them."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import socket
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import torch

from kbx.executor import mappings, replay
from kbx.executor.channel import HEAP_BYTES, Broken, Channel
from kbx.executor.compiler import Compiler, CompilerEnded
from kbx.executor.large import Large
from kbx.executor.rebuilding import is_own
from kbx.tensors import dtype_name
from kbx.ttir.errors import Stuck, Unsupported
from kbx.ttir.executor import Argument, Kernel, TensorDescriptor
from kbx.ttir.findings import OUT_OF_BOUNDS, Finding
from kbx.ttir.launch import ASCENDING, Launch
from kbx.ttir.memory import ALL_ONES, Memory, Region

_Message: TypeAlias = dict[str, Any]

_MOST_FINDINGS = 20
_MESSAGE_BYTES = 4096
_NAME_CHARS = 80
"""Of a kernel and its parameters, in what is told of them."""


def serve(runner: socket.socket, oracle: socket.socket | None, compiler: socket.socket, heap: int | None) -> None:
    """Answers until the runner has ended. ``oracle``: where arenas come from and findings go; ``heap``: the descriptor of a file in memory."""
    torch.set_num_threads(1)
    with contextlib.suppress(Broken):
        _Executor(Channel(runner), oracle, Compiler(compiler), heap).run()


class _Executor:
    """State for one candidate."""

    def __init__(self, runner: Channel, oracle: socket.socket | None, compiler: Compiler, heap: int | None) -> None:
        self._runner, self._compiler, self._heap = runner, compiler, heap
        self._oracle = Channel(oracle) if oracle is not None else None
        self._memory = mappings.Mappings()
        self._lent: dict[int, mappings.Tensor] = {}
        self._texts: list[str] = []
        self._own: list[bool] = []
        """Whether each kernel is the candidate's."""
        self._kernels: dict[int, Kernel] = {}
        self._findings: list[Finding] = []
        self._atomic = False
        self._seed, self._order, self._begun = 0, ASCENDING, False
        self._records = replay.Records()
        self._heap_base = 0
        """The runner's address of the heap."""
        self._may_be_large = False
        """Whether the oracle has lent arguments that may be repeated. Nobody else lets some programs of a launch run, and races be."""
        self._large: Large | None = None
        """The memory of a call on large tensors; None in any other."""
        self._filler = ALL_ONES
        """What memory of the candidate's holds that nobody has written to in this call, as the runner says."""

    def run(self) -> None:
        """Answers requests; the oracle's come first, as a call is prepared before it is made. Raises Broken where one of the two has ended."""
        arenas = _received(self._oracle.connection) if self._oracle is not None else []
        attached, poll = False, select.poll()
        sources = [channel for channel in (self._oracle, self._runner) if channel is not None]
        for channel in sources:
            poll.register(channel.connection, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            first = next(channel for channel in sources if channel.connection.fileno() in ready)
            message, blobs = first.receive()
            if first is self._oracle:
                self._answer_oracle(first, message)
            elif "attach" in message and not attached:
                attached = True
                self._attach(message["attach"], arenas)
            else:
                self._answer_runner(message, blobs)

    # ------------------------------------------------------------ the oracle

    def _answer_oracle(self, oracle: Channel, message: _Message) -> None:
        match message:
            case {"prepare": seed, "lent": lent, "order": order, "forget": forget, "repeated": repeated}:
                self._seed, self._order = seed, order
                self._may_be_large, self._large = repeated, None
                if forget:
                    self._findings.clear()
                self._lend(lent)
                self._records.begin()
            case {"replay": back, "lent": lent}:
                self._lend(lent)
                self._replay(oracle, back, message)
            case {"findings": _}:
                worst = sorted(dict.fromkeys(self._findings), key=lambda found: found.rank)[:_MOST_FINDINGS]
                oracle.send({"findings": [_told(each) for each in worst], "atomic": self._atomic})
                self._findings.clear()
            case _:
                raise Broken("the oracle asks for something unknown")

    def _lend(self, lent: list[tuple[int, int, int | None]]) -> None:
        self._lent.clear()
        self._lent.update((offset, mappings.Tensor(length, filler)) for offset, length, filler in lent)

    def _replay(self, oracle: Channel, back: int, message: _Message) -> None:
        lent = self._memory.lent()
        places = dict(zip(sorted(offset for offset, _, _ in message["lent"]), sorted(lent), strict=True))
        given = [replay.Given(places[base], offset - base, *form) for base, offset, *form in message["given"]]
        try:
            contents = {at: torch.from_numpy(content) for at, content in lent.items()}
            record, asked = self._records.find(back, lent), frozenset(message["asked"])
            machine = replay.Executed(self._launch_again, self._own.__getitem__)
            made = replay.Replay(record, contents, given, asked, message["seed"], machine)
            made.run()
            results = made.results()
        except replay.Unfit as error:
            oracle.send({"unfit": str(error)[:_MESSAGE_BYTES], "elsewhere": isinstance(error, replay.Elsewhere)})
        except Exception as error:
            oracle.send({"unfit": f"{type(error).__name__}: {error}"[:_MESSAGE_BYTES], "elsewhere": False})
        else:
            shapes = [[dtype_name(t.dtype), list(t.shape)] for t in results]
            bytes_of = [t.reshape(-1).view(torch.uint8) for t in results if t.numel()]
            oracle.send({"results": shapes} | made.counts(), [t.numpy().data for t in (*bytes_of, *made.arguments())])

    def _launch_again(self, message: _Message, memory: Memory, seed: int) -> None:
        self._run(message, Launch(tuple(message["grid"]), memory, seed, ASCENDING))

    # ------------------------------------------------------------ the runner

    def _answer_runner(self, message: _Message, blobs: Sequence[bytearray]) -> None:
        match message:
            case {"begin": source, "path": path} if not self._begun:
                self._begun = True
                self._compiler.begin(str(source), str(path), executed=True)
            case {"compile": request}:
                self._compile(request)
            case {"older": start, "bytes": length}:
                self._keep(start, length, blobs)
            case {"record": _}:
                self._records.add(message, list(self._memory.lent()))
                self._runner.send({"recorded": True})
            case {"repeat": repeated} if self._may_be_large:
                self._large = Large(self._memory, self._heap_base, repeated)
                self._runner.send({"repeated": True})
            case {"final": place} if self._large is not None:
                self._runner.send(*_final(self._large, place))
            case {"launch": _}:
                self._records.launched(message)
                answer, written = self._launched(message, blobs)
                self._runner.send(answer, written)
            case _:
                raise Broken("the runner asks for something unknown")

    def _keep(self, start: int, length: int, blobs: Sequence[bytearray]) -> None:
        if blobs:
            self._records.keep(start, torch.frombuffer(blobs[0], dtype=torch.uint8))
        elif (region := self._memory.region(start, length, None)) is not None:
            self._records.keep(start, torch.from_numpy(region.memory.copy()))
        else:
            raise Broken("the runner names memory that is not shared")
        self._runner.send({"kept": True})

    def _attach(self, bases: dict[str, int], arenas: Sequence[tuple[_Message, int]]) -> None:
        """Maps what is shared, which is at these addresses of the runner's."""
        for described, descriptor in arenas:
            name = described["name"]
            self._memory.add(bases[name], descriptor, described["bytes"], self._lent if name == "in" else {})
            os.close(descriptor)
        if self._heap is not None and "heap" in bases:
            self._heap_base = bases["heap"]
            self._memory.add(self._heap_base, self._heap, HEAP_BYTES)
        self._runner.send({"shared": self._memory.shared()})

    def _compile(self, request: _Message) -> None:
        try:
            reply = self._compiler.compile(request)
            for name, content in reply.get("files", {}).items():
                if name.endswith(".ttir"):
                    reply["number"] = len(self._texts)
                    self._texts.append(base64.b64decode(content).decode())
                    self._own.append(is_own(request["description"]))
        except (CompilerEnded, KeyError, ValueError) as error:
            raise Broken(str(error)) from error
        self._runner.send(reply)

    def _launched(self, message: _Message, blobs: Sequence[bytearray]) -> tuple[_Message, list[memoryview]]:
        """Runs a launch; the answer, and what it has made of memory that came with the request."""
        try:
            if message["copied"] and self._heap is not None:
                raise Unsupported(0, "memory that is not the device's")
            self._filler = message["filler"] & 0xFF
            copied = [
                Region(start, np.frombuffer(blob, np.uint8), filler=self._filler)
                for start, blob in zip(message["copied"], blobs, strict=True)
            ]
            regions = list(self._regions(message["regions"])) + copied
            memory = Memory(regions, self._more)
            kernel = self._run(message, launch := self._launch(message, memory))
        except Unsupported as error:
            return {"unsupported": error.what}, []
        except Stuck as error:
            return {"stuck": os.path.basename(error.place)}, []
        except MemoryError:
            return {"unsupported": "values of a program that take more memory than there is"}, []
        except Broken:
            raise
        except Exception as error:
            return {"unsupported": f"{type(error).__name__}: {error}"}, []
        self._atomic |= kernel.atomic
        self._findings += [replace(each, kernel=kernel.function.name[:_NAME_CHARS]) for each in launch.findings]
        if self._large is not None:
            self._large.left |= any(each.kind == OUT_OF_BOUNDS for each in launch.findings)
        return {"done": True, "reached": sorted(memory.reached)}, [region.memory.data for region in copied]

    def _launch(self, message: _Message, memory: Memory) -> Launch:
        if self._large is None:
            return Launch(tuple(message["grid"]), memory, self._seed, self._order)
        return self._large.launch(tuple(message["grid"]), memory, self._seed, self._kernel(message["launch"]).largest)

    def _run(self, message: _Message, launch: Launch) -> Kernel:
        names, kernel = [str(name)[:_NAME_CHARS] for name in message["names"]], self._kernel(message["launch"])
        kernel.run(launch, [argument(each) for each in message["arguments"]], names)
        return kernel

    def _kernel(self, number: int) -> Kernel:
        found = self._kernels.get(number)
        if found is None:
            found = self._kernels[number] = Kernel(self._texts[number])
        return found

    def _regions(self, claimed: Sequence[tuple[int, int]]) -> Iterator[Region]:
        for start, length in {start: length for start, length in claimed}.items():
            if self._large is not None:
                region = self._large.region(start, length)
            else:
                region = self._memory.region(start, length, self._filler)
            if region is not None:
                yield region

    def _more(self) -> list[Region]:
        """All tensors: the kernel has an address that it was not given."""
        self._runner.send({"more": True})
        answer, _ = self._runner.receive()
        if answer["regions"] is None:
            raise Unsupported(0, "an address that is no argument, where no C++ compiler lets kbx know all tensors")
        claimed = [*answer["regions"], *self._memory.known()]
        return list(self._regions(claimed)) if self._large is None else self._large.others(claimed)


def _received(connection: socket.socket) -> list[tuple[_Message, int]]:
    """The oracle's arenas: description and descriptor of each."""
    body, descriptors, _, _ = socket.recv_fds(connection, _MESSAGE_BYTES, 8)
    if not body:
        raise Broken("end of file")
    return list(zip(json.loads(body), descriptors, strict=True))


def _final(large: Large, place: Sequence[int]) -> tuple[_Message, list[memoryview]]:
    """Bytes of a result; ``place``: as ``Large.final`` takes it."""
    start, length, offset, count = place
    try:
        return {"final": True}, [large.final(start, length, offset, count).data]
    except Unsupported as error:
        return {"unsupported": error.what}, []


def argument(given: Any) -> Argument:
    """A launch's argument, as ``kbx.runner.execution`` tells it: numbers as they are, floats as hexadecimal text, descriptors by their parts."""
    match given:
        case {"float": text}:
            return float.fromhex(text)
        case {"descriptor": address, "shape": shape, "strides": strides, "nan": nan, "tf32": tf32}:
            return TensorDescriptor(int(address), tuple(shape), tuple(strides), bool(nan), bool(tf32))
        case bool() | int() | None:
            return given
    raise ValueError(f"an argument that is no number: {given!r:.80}")


def _told(finding: Finding) -> _Message:
    return {
        "kind": finding.kind,
        "text": finding.text,
        "file": os.path.basename(finding.file),
        "line": finding.line,
        "program": list(finding.program) if finding.program is not None else None,
        "argument": finding.argument,
        "lanes": finding.lanes,
        "kernel": finding.kernel,
    }
