"""The process of a cage that starts the agent's program and hands back what it has written.

It is shut in as the program is, with the same rights: what it says is the program's own claim.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import socket
import stat
import struct
from typing import Any

from kbx.runner import linux

ADDRESS = ("127.0.0.1", 8080)
"""Where the program finds its model and kbx-judge. Nobody else listens in its network."""
WORK, HOME, TOOLS = "/tmp/agent/work", "/tmp/agent/home", "/tmp/agent/bin"  # noqa: S108 - the cage's own, which nobody else sees
ANSWER = "solution.py"
_LONGEST_ANSWER = 1 << 20
_LONGEST_FILE = 64 << 10
_ALL_FILES = 1 << 20
_MOST_FILES = 200


def send(control: socket.socket, message: dict[str, Any]) -> None:
    text = json.dumps(message).encode()
    control.sendall(struct.pack("=I", len(text)) + text)


def receive(control: socket.socket) -> dict[str, Any]:
    """The next message; raises EOFError at the end."""
    (length,) = struct.unpack("=I", _exactly(control, 4))
    return json.loads(_exactly(control, length))


def _exactly(control: socket.socket, count: int) -> bytes:
    found = bytearray()
    while len(found) < count:
        piece = control.recv(count - len(found))
        if not piece:
            raise EOFError
        found += piece
    return bytes(found)


def serve(control: socket.socket) -> None:
    """Main loop: a listener out, an order in; the program; its files out."""
    linux.prctl(linux.PR_SET_DUMPABLE, 0)  # the program is of the same user
    with socket.create_server(ADDRESS, backlog=64) as listener:
        socket.send_fds(control, [b"l"], [listener.fileno()])
    order = receive(control)
    os.umask(0o022)
    for folder in (WORK, HOME, TOOLS):
        os.makedirs(folder, exist_ok=True)
    for path, text in order["files"].items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, order["modes"].get(path, 0o644)), "w") as file:
            file.write(text)
    status, over = _run(control, order)
    _end_all()
    send(control, {"status": status, "over": over, **collected()})


def _run(control: socket.socket, order: dict[str, Any]) -> tuple[int, bool]:
    """The program's exit code, as a shell counts it, and whether it was told to stop."""
    pid = os.fork()
    if pid == 0:
        _become(control, order)
    handle, over = os.pidfd_open(pid), False
    ready = select.select([control, handle], [], [])[0]
    if handle not in ready:
        over = True
        os.kill(pid, signal.SIGKILL)
    os.close(handle)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return (code if code >= 0 else 128 - code), over


def _become(control: socket.socket, order: dict[str, Any]) -> None:
    words = order["words"]
    try:
        control.close()
        os.setsid()
        os.chdir(WORK)
        os.environ.update(order["environment"])
        linux.prctl(linux.PR_SET_DUMPABLE, 1)
        os.execvp(words[0], words)
    except OSError as error:
        where = "" if error.errno != errno.ENOENT else ": name its folder with --program-files"
        os.write(2, f"kbx: {words[0]}: {error.strerror} in the sandbox{where}\n".encode())
    finally:
        os._exit(127)


def _end_all() -> None:
    """Ends all that the program left, so that nothing changes a file while it is read."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)  # all of this process namespace but this process and pid 1
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def collected(work: str = WORK) -> dict[str, Any]:
    """``solution``: text of the answer or None; ``files``: texts of the other files by path; ``left_out``: how many are not among them."""
    files: dict[str, str] = {}
    room, left_out, answer = _ALL_FILES, 0, None
    for folder, folders, names, at in os.fwalk(work, follow_symlinks=False):
        folders.sort()
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), work)
            longest = _LONGEST_ANSWER if path == ANSWER else _LONGEST_FILE
            text = _text(name, at, longest)
            if path == ANSWER:
                answer = text
            elif text is None or len(files) == _MOST_FILES or len(text) > room:
                left_out += 1
            else:
                room -= len(text)
                files[path] = text
    return {"solution": answer, "files": files, "left_out": left_out}


def _text(name: str, folder: int, longest: int) -> str | None:
    """Text of a regular file; None for others, longer ones and what is no UTF-8."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return None
            data = file.read(longest + 1)
        return data.decode() if len(data) <= longest else None
    except (OSError, UnicodeDecodeError):
        return None
