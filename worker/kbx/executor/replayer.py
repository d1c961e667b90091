"""``python -m kbx.executor.replayer``: makes calls of candidates again on a GPU, for one oracle, from records of ``kbx.executor.recorder``.

It is shut in as runners are, and holds nothing of a candidate's but compiled kernels. One serves all candidates of its oracle; after a
fault of the device it ends, and the oracle starts another.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
from collections.abc import Sequence
from typing import NoReturn

import torch

from kbx import precision
from kbx.executor import replay
from kbx.executor.channel import Broken, Channel, Executor
from kbx.executor.on_gpu import Gpu
from kbx.messages.zygote import Spawn
from kbx.runner import arenas, linux, mounts, sandbox
from kbx.tensors import ALIGN, dtype_name

_REASON_CHARS = 500
_MOST_BYTES = 1 << 30
_SECONDS = 1 << 30
"""Of processor time: it lives as long as its oracle."""


def main() -> NoReturn:
    parser = argparse.ArgumentParser(prog="kbx.executor.replayer", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--index", type=int, required=True, help="which GPU")
    parser.add_argument("--uid", type=int, help="user to become, when started as root")
    options = parser.parse_args()
    torch.set_num_threads(1)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    control = socket.socket(fileno=os.dup(0))
    output, status = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    spawn = Spawn(
        0, 1, "cuda", options.index, uid=options.uid, memory_bytes=_MOST_BYTES, cpu_seconds=_SECONDS, file_bytes=_MOST_BYTES,
    )  # fmt: skip
    scratch = f"/tmp/kbx-replayer-{os.getpid()}"  # noqa: S108 - where there is no mount namespace
    cell = sandbox.Cell(spawn, mounts.plan(cuda=True), control, None, output, status, scratch, _serve)
    sandbox.launch(cell)


def _serve(control: socket.socket, _: socket.socket | None, spawn: Spawn, __: Executor | None) -> None:
    precision.plain()
    with contextlib.suppress(Broken):
        _Replayer(Channel(control), torch.device("cuda", 0)).run()


class _Replayer:
    def __init__(self, oracle: Channel, device: torch.device) -> None:
        self._oracle, self._device = oracle, device
        self._forget()

    def _forget(self) -> None:
        self._gpu = Gpu(self._device)
        self._opened: dict[str, arenas.CudaArena] = {}
        self._older: dict[int, torch.Tensor] = {}

    def run(self) -> None:
        """Raises Broken where the oracle has ended."""
        torch.zeros(1, device=self._device)  # the context
        while True:
            message, blobs = self._oracle.receive()
            match message:
                case {"open": described}:
                    self._opened = arenas.open_handles(described, self._device)
                case {"close": _}:
                    self._close()
                    self._oracle.send({"closed": True})
                case _:
                    self._oracle.send(self._answer(message, blobs))

    def _close(self) -> None:
        torch.cuda.synchronize(self._device)  # a replay that was given up may have left something running
        for arena in self._opened.values():
            arena.close()
        self._gpu.close()
        self._forget()
        torch.cuda.empty_cache()

    def _answer(self, message: replay.Message, blobs: Sequence[bytearray]) -> replay.Message:
        try:
            made = self._made(message, list(blobs))
            made.run()
            answer = {"results": self._put(made.results())} | made.counts()
            self._put_back(message, made.arguments())
            torch.cuda.synchronize(self._device)
        except replay.Unfit as error:
            return {"unfit": str(error)[:_REASON_CHARS], "elsewhere": False}
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            return {"unfit": "no memory of the device", "elsewhere": False}
        except Exception as error:
            return {"unfit": f"{type(error).__name__}: {error}"[:_REASON_CHARS], "elsewhere": False}
        return answer

    def _made(self, message: replay.Message, blobs: list[bytearray]) -> replay.Replay:
        for at in message["changed"]:
            self._older[at] = torch.frombuffer(blobs.pop(0), dtype=torch.uint8)
        for number, kernel in zip(message["kernels"], blobs, strict=True):
            self._gpu.add(number, json.loads(kernel))
        older = [(at, self._older[at]) for at in message["older"]]
        base, lent = message["base"], {o + message["base"]: self._lent(o, n) for o, n in message["lent"]}
        record = replay.Record(message["record"], message["launches"], older, sorted(lent))
        given = [replay.Given(base + start, offset - start, *form) for start, offset, *form in message["given"]]
        return replay.Replay(record, lent, given, frozenset(message["asked"]), message["seed"], self._gpu)

    def _lent(self, offset: int, length: int) -> torch.Tensor:
        content: torch.Tensor = self._opened["in"].typed(offset, length, torch.uint8)
        return content

    def _put(self, results: list[torch.Tensor]) -> list[tuple[str, list[int], int]]:
        """Copies results into arena ``out``; dtype, shape and offset of each."""
        told, offset = [], 0
        for tensor in results:
            place = self._opened["out"].typed(offset, max(1, tensor.numel()), tensor.dtype)
            place[: tensor.numel()].copy_(tensor.reshape(-1))
            told.append((dtype_name(tensor.dtype), list(tensor.shape), offset))
            offset += -(-max(1, tensor.numel() * tensor.element_size()) // ALIGN) * ALIGN
        return told

    def _put_back(self, message: replay.Message, arguments: list[torch.Tensor]) -> None:
        for (offset, length), content in zip(message["lent"], arguments, strict=True):
            self._lent(offset, length).copy_(content)


if __name__ == "__main__":
    main()
