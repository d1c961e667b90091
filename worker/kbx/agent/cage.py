"""``python cage.py [--probe]``: an agent's program in the sandbox of candidates, with a workspace and one address to talk to.

Speaks JSON lines on stdin and stdout with kbx, which holds the keys and decides about each request; here is no secret. First kbx says

    {"words", "environment", "files", "modes", "visible", "hidden", "uid", "seconds", "memory_bytes", "file_bytes", "processes"}

Then this process says ``started`` or ``refused``, and of each request to the address inside, in an order of its own,
``{"event": "request", "id", "method", "target", "headers", "body"}``, which kbx answers by ``{"id", "status", "headers", "body"}``.
At last it says ``ended`` with the output and the files of the workspace. The end of stdin ends all.
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.server
import itertools
import json
import os
import signal
import socket
import sys
import threading
import time
from queue import Empty, SimpleQueue
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from kbx.agent import shell, watch  # noqa: E402
from kbx.messages.zygote import Spawn  # noqa: E402
from kbx.runner import mounts, processes, sandbox  # noqa: E402

_NAMESPACES = ("user", "files", "processes", "network", "ipc")
_LONGEST_BODY = 8 << 20
_MOST_CONNECTIONS = 64
_MOST_REQUESTS = 8
"""Read and not answered: others wait, so that what kbx holds of them is bounded."""
_IDLE_SECONDS = 120
_ANSWER_SECONDS = 3900
"""Longer than any judgement or model: kbx answers before."""
_KEPT_OUTPUT = 256 << 10
_GRACE_SECONDS = 10
_TICK_SECONDS = 0.25
_NOWHERE = "/nonexistent/kbx-agent"
"""For files where there is no tree of its own: then no program is started."""
_PROBE: dict[str, Any] = {
    "visible": [], "hidden": [], "uid": 62900, "seconds": 60, "memory_bytes": 1 << 30, "file_bytes": 1 << 20, "processes": 64,
}  # fmt: skip
"""What says whether this machine shuts programs in: starts none."""


def tree(visible: list[str], hidden: list[str]) -> mounts.Tree:
    """What a candidate sees without kbx's own files, with ``visible``."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    whole = mounts.plan(False, hidden, visible)
    own = tuple(entry for entry in whole.entries if not entry[0].startswith(package + "/") or entry[0] in visible)
    return dataclasses.replace(whole, entries=own)


def missing(protections: list[Any]) -> str:
    """Which namespaces a machine refuses, or that it has no filter, and why, in words; empty if none."""
    lacking = {each["name"]: f"{each['name']} ({each['detail']})" for each in protections if not each["active"]}
    named = [lacking[name] for name in _NAMESPACES if name in lacking]
    if named:
        return "no namespace of its own for " + ", ".join(named)
    return "no filter of system calls: " + lacking["seccomp"] if "seccomp" in lacking else ""


def refused() -> list[Any]:
    """The namespaces alone, tried in a fork: what comes after them fails with words of its own."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        with contextlib.suppress(OSError):
            found = sandbox.Protections()
            sandbox.enter_namespaces(found)
            os.write(writer, json.dumps(found.as_list()).encode())
        os._exit(0)
    os.close(writer)
    os.wait()
    with open(reader) as file:
        return json.loads(file.read() or "[]")


class Cage:
    """One program, from its start to its end."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._order = order
        self._output = bytearray()
        self._dropped = 0
        self._said = 0
        self._draining = threading.Thread(target=self._drain, daemon=True)
        self.watch: watch.Watch | None = None
        self.result: dict[str, Any] | None = None
        self._control, inner = socket.socketpair()
        output, output_in = os.pipe()
        status, status_in = os.pipe()
        spawn = Spawn(
            id=0, runner=0, device="cpu", uid=order["uid"], memory_bytes=order["memory_bytes"],
            cpu_seconds=order["seconds"] * (os.cpu_count() or 1), processes=order["processes"],
            file_bytes=order["file_bytes"], loopback=True,
        )  # fmt: skip
        cell = sandbox.Cell(
            spawn, tree(order["visible"], order["hidden"]), inner, None, output_in, status_in,
            _NOWHERE, lambda control, *_: shell.serve(control), watched=True,
        )  # fmt: skip
        self.monitor = os.fork()
        if self.monitor == 0:
            sandbox.launch(cell)
        inner.close()
        os.close(output_in)
        os.close(status_in)
        self._output_fd, self._status = output, open(status)  # noqa: SIM115 - as long as this process

    def start(self) -> socket.socket:
        """The listener inside its network; raises PermissionError if it is not shut in."""
        while True:
            line = self._status.readline()
            if not line:
                raise PermissionError("the sandbox ended before it was ready")
            said = json.loads(line)
            if "refused" in said:
                raise PermissionError(missing(refused()) or said["refused"])
            if "ready" in said:
                break
        if lacking := missing(said["ready"]):
            raise PermissionError(lacking)
        self._control.settimeout(_GRACE_SECONDS)
        kind, descriptor = self._descriptor()
        if kind == b"w":
            self.watch = watch.Watch(descriptor)
            threading.Thread(target=self.watch.answer, daemon=True).start()
            _, descriptor = self._descriptor()
        self._control.settimeout(None)
        return socket.socket(fileno=descriptor)

    def _descriptor(self) -> tuple[bytes, int]:
        kind, fds, *_ = socket.recv_fds(self._control, 1, 1)
        if not fds:
            raise PermissionError("no network of its own: " + self._tail())
        return kind, fds[0]

    def run(self) -> None:
        """Starts the program and waits for its end, at most as long as ordered."""
        self._draining.start()
        ended = threading.Event()
        threading.Thread(target=self._receive, args=(ended,), daemon=True).start()
        keys = ("words", "environment", "files", "modes")
        with contextlib.suppress(OSError):
            shell.send(self._control, {key: self._order[key] for key in keys})
        deadline = time.monotonic() + self._order["seconds"]
        over = None
        while over is None and not ended.wait(_TICK_SECONDS):
            if time.monotonic() > deadline:
                over = f"its {self._order['seconds']} s are over"
            elif processes.resident_below(self.monitor, 0)[0] > self._order["memory_bytes"]:
                over = f"it holds more than {self._order['memory_bytes'] >> 20} MiB"
        if over:
            with contextlib.suppress(OSError):
                shell.send(self._control, {"stop": True})
            ended.wait(_GRACE_SECONDS)
        self.result = {**(self.result or {}), **({"stopped": over} if over else {})}

    def _receive(self, ended: threading.Event) -> None:
        with contextlib.suppress(OSError, EOFError, ValueError):
            self.result = shell.receive(self._control)
        ended.set()

    def _drain(self) -> None:
        """Keeps the first and the last of what it prints."""
        with contextlib.suppress(OSError):
            while data := os.read(self._output_fd, 1 << 16):
                self._said += len(data)
                self._output += data
                if len(self._output) > 2 * _KEPT_OUTPUT:
                    del self._output[_KEPT_OUTPUT : len(self._output) - _KEPT_OUTPUT]

    def _tail(self) -> str:
        with contextlib.suppress(OSError):
            os.set_blocking(self._output_fd, False)
            return os.read(self._output_fd, 1 << 12).decode(errors="replace").strip().rpartition("\n")[2]
        return "no answer"

    def output(self) -> tuple[str, int]:
        """What it printed before it was closed, and how many bytes of the middle are left out."""
        self._draining.join(_GRACE_SECONDS)
        kept = bytes(self._output)
        return kept.decode(errors="replace"), self._said - len(kept)

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.monitor, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.monitor, 0)


class Relay:
    """Passes requests on to kbx, one JSON line each, and waits for what it answers."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._waiting: dict[int, SimpleQueue[dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def tell(self, **line: Any) -> None:
        text = json.dumps(line)
        with self._lock:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()

    def ask(self, **request: Any) -> dict[str, Any]:
        number, answers = next(self._numbers), SimpleQueue[dict[str, Any]]()
        self._waiting[number] = answers
        try:
            self.tell(event="request", id=number, **request)
            return answers.get(timeout=_ANSWER_SECONDS)
        except Empty:
            return {"status": 504, "headers": {}, "body": "kbx: no answer\n"}
        finally:
            del self._waiting[number]

    def listen(self) -> None:
        """Reads kbx's answers until it is gone, which ends this process and by it the cage."""
        for line in sys.stdin:
            answer = json.loads(line)
            if answer["id"] in self._waiting:
                self._waiting[answer["id"]].put(answer)
        os._exit(0)


class Gate(http.server.ThreadingHTTPServer):
    """The address inside. It decides nothing: kbx does."""

    daemon_threads = True

    def __init__(self, listener: socket.socket, relay: Relay) -> None:
        super().__init__(listener.getsockname(), Request, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.relay = relay
        self._free = threading.Semaphore(_MOST_CONNECTIONS)
        self.requests = threading.Semaphore(_MOST_REQUESTS)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks is the program's affair."""


class Request(http.server.BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS
    server: Gate

    def _pass_on(self) -> None:
        with self.server.requests:
            body = self._body()
            if body is None:
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = self.server.relay.ask(method=self.command, target=self.path, headers=headers, body=body)
        data = answer["body"].encode()
        self.send_response_only(answer["status"])
        for name, value in answer["headers"].items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        if self.command == "CONNECT":
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = do_CONNECT = do_TRACE = _pass_on

    def _body(self) -> str | None:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers:
            return self._chunks()
        if not length.isdigit() or int(length) > _LONGEST_BODY:
            self.close_connection = True
            self.send_error(413)
            return None
        return self.rfile.read(int(length)).decode(errors="replace")

    def _chunks(self) -> str | None:
        found = bytearray()
        with contextlib.suppress(ValueError):
            while size := int(self.rfile.readline(64).split(b";")[0], 16):
                if size < 0 or len(found) + size > _LONGEST_BODY:
                    break
                found += self.rfile.read(size)
                self.rfile.readline(4)
            else:
                while self.rfile.readline(1 << 10).strip():
                    pass
                return found.decode(errors="replace")
        self.close_connection = True
        self.send_error(400)
        return None

    def log_message(self, *_: Any) -> None:
        """kbx keeps what passes."""


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: kbx's to obey
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    order = _PROBE if sys.argv[1:] == ["--probe"] else json.loads(sys.stdin.readline())
    cage = Cage(order)
    relay = Relay()
    try:
        listener = cage.start()
    except (OSError, ValueError) as error:
        cage.close()
        relay.tell(event="refused", what=getattr(error, "strerror", None) or str(error))
        sys.exit(0)
    if order is _PROBE:
        cage.close()
        relay.tell(event="started")
        sys.exit(0)
    threading.Thread(target=relay.listen, daemon=True).start()
    threading.Thread(target=Gate(listener, relay).serve_forever, daemon=True).start()
    relay.tell(event="started")
    cage.run()
    cage.close()
    text, dropped = cage.output()
    refused = cage.watch.refused if cage.watch else {}
    relay.tell(event="ended", output=text, dropped=dropped, refused=refused, **(cage.result or {}))
    os._exit(0)


if __name__ == "__main__":
    main()
