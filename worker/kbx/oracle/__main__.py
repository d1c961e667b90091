"""``python -m kbx.oracle``: serves the referee on stdin and stdout until stdin ends."""

from __future__ import annotations

import argparse
import ctypes
import gc
import logging
import os
import queue
import secrets
import signal
import sys
import tempfile
import threading
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from kbx import bytecode, cores, one_import
from kbx.oracle import compiler_cache, confinement, listening, starting
from kbx.protocol import ProtocolError, encode, read_frame, write_frame

if TYPE_CHECKING:
    import socket

    from kbx.oracle.server import Server

PR_SET_DUMPABLE = 4


def main() -> NoReturn:
    options = _parser().parse_args()
    if options.share_import:
        one_import.hand_over(options.share_import, ["kbx.oracle", "--device", options.device])
    # Ctrl-C reaches every process at the terminal; when the oracle ends is the referee's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cores.keep_off()  # before there are threads, which would stay where they are
    listener = listening.anywhere()  # in the network of the zygote, which connects to it
    if options.confine:
        confinement.enter(options.confine, options.uid, options.device == "cuda")
    bytecode.keep()
    judges_on_gpu = options.device == "cuda" and not options.compiler_cache
    starter = starting.Starter(options.index, options.uid) if judges_on_gpu else None
    if starter is not None and options.replays:
        starter.begin()
    incoming, outgoing = _take_protocol()
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(incoming, requests), name="kbx-reader", daemon=True).start()
    logging.basicConfig(format="oracle: %(message)s")
    if options.compiler_cache:
        compiler_cache.make(options.compiler_cache, options.uid)
    _harden(options.uid)
    gc.disable()  # what is imported stays: to look through it again and again takes a tenth of the time
    server = _server(options, listener, starter)
    if options.shape_tracer:
        server.trace_for_gpus()
    gc.freeze()  # as in runners: nobody who is timed waits until all that was imported has been looked through
    gc.enable()
    sys.dont_write_bytecode = True  # what was imported so far is compiled once; tasks may lie in somebody's own folders
    write_frame(outgoing, encode(server.hello()))
    while True:
        write_frame(outgoing, server.answer(requests.get()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kbx.oracle", description="Trusted side of kbx; speaks kbx.messages.")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--index", type=int, default=0, help="which GPU")
    parser.add_argument("--uid", type=int, help="user to become, when started as root")
    parser.add_argument(
        "--shape-tracer",
        action="store_true",
        help="trace the shapes of calls on a GPU",
    )
    parser.add_argument("--replays", action="store_true", help="make calls of candidates again from the first one on")
    parser.add_argument("--confine", metavar="SUITE", help="run in a sandbox that shows this folder of task files")
    parser.add_argument(
        "--share-import",
        metavar="ADDRESS",
        help="where the zygote imports torch for both, see kbx.one_import; on the CPU",
    )
    parser.add_argument("--compiler-cache", help="folder for what torch.compile makes, for an oracle of baselines")
    return parser


def _take_protocol() -> tuple[BinaryIO, BinaryIO]:
    """Keeps stdin and stdout for frames alone: whatever a task or a library prints goes to stderr."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return incoming, outgoing


def _read(incoming: BinaryIO, requests: queue.SimpleQueue[bytes]) -> NoReturn:
    """Queues payloads. The end of stdin is the referee's death, and ends this process in the middle of anything."""
    try:
        while (frame := read_frame(incoming)) is not None:
            requests.put(frame[1])
    except ProtocolError as error:
        print(f"oracle: {error}", file=sys.stderr, flush=True)
        os._exit(2)
    os._exit(0)


def _harden(uid: int | None) -> None:
    """Becomes another user if told, and forbids that user's other processes to look into this one."""
    if uid is not None and os.geteuid() == 0:
        _give_home(uid)
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    # A result nested as deep as the referee's parser allows must still be read, so that it can be judged.
    sys.setrecursionlimit(10_000)


def _give_home(uid: int) -> None:
    """Makes a home for this process alone, since that user cannot write to ours: compilers that a reference starts (Triton's, those of
    PyTorch's extensions) keep there what they make, and trust what they find. Runners may be the same user, so no user can list the
    folder that it lies in."""
    parent = tempfile.mkdtemp(prefix="home-")
    home = os.path.join(parent, secrets.token_hex(16))
    os.mkdir(home, 0o700)
    os.chown(home, uid, uid)
    os.chmod(parent, 0o711)
    os.environ["HOME"] = home
    os.environ.pop("XDG_CACHE_HOME", None)


def _server(options: argparse.Namespace, listener: socket.socket, starter: starting.Starter | None) -> Server:
    # As runners have it, see sandbox: both sides' contexts are alike.
    os.environ["CUDA_DEVICE_MAX_COPY_CONNECTIONS"] = "1"
    import torch  # after the change of user: a CUDA context belongs to who made it

    from kbx import precision, standins
    from kbx.oracle.server import Server

    torch.set_num_threads(1)
    standins.install()
    precision.plain()
    if options.device == "cuda":
        from kbx.oracle.cuda import CudaDevice

        return Server(CudaDevice(options.index, listener, starter))
    from kbx.oracle.devices import CpuDevice

    return Server(CpuDevice(listener))


if __name__ == "__main__":
    main()
