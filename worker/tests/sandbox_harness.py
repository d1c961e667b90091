"""A real zygote over pipes, for tests: as the present user, and as ``nobody`` where the tests run as root."""

import contextlib
import json
import os
import random
import select
import struct
import subprocess
import sys
import time
from pathlib import Path

import patience

HEADER = struct.Struct(">II")
TESTS = Path(__file__).resolve().parent
NOBODY = 65534

_AS_NOBODY = """
import os, sys
from kbx.runner import linux
linux.unshare(linux.CLONE_NEWNS)
linux.mount(None, "/", None, linux.MS_REC | linux.MS_PRIVATE)
opened = [(path, os.open(path, os.O_PATH)) for path in sys.argv[1].split(":")]
for path, fd in opened:
    linux.mount("tmpfs", "/" + path.split("/")[1], "tmpfs", 0, "mode=755")
for path, fd in opened:
    os.makedirs(path)
    linux.mount(f"/proc/self/fd/{fd}", path, None, linux.MS_BIND | linux.MS_REC)
    os.close(fd)
os.chdir("/")
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
os.execve(sys.argv[2], sys.argv[2:], os.environ)
"""
"""Shows Python and the worker to nobody, even when they live in a home folder of mode 0700, then becomes nobody."""


_NO_NAMESPACES = """
import os, sys
from kbx.runner import linux, seccomp
linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
seccomp._SETRLIMIT = seccomp._PRLIMIT64 = 0xFFFF  # the sandbox has its own limits still to set
seccomp.install(gpu=True, loopback=True)
os.execve(sys.argv[1], sys.argv[1:], os.environ)
"""
"""Refuses namespaces and mounts, as many container runtimes do, by the sandbox's own filter."""


class Zygote:
    """``runner(source)`` answers the Python value that the source leaves in ``answer``."""

    def __init__(self, *options, machine="plain", path=None, without=()):
        """``path``: one more folder that runners see. ``without``: variables that its environment lacks."""
        command = [sys.executable, "-m", "kbx.runner.zygote", "--bench", "sandbox_standin", *options]
        if machine == "no_namespaces":
            command = [sys.executable, "-c", _NO_NAMESPACES, *command]
        if machine == "nobody":
            shown = {p for p in (sys.prefix, sys.base_prefix, str(TESTS.parent)) if not p.startswith("/usr/")}
            command = [sys.executable, "-c", _AS_NOBODY, ":".join(sorted(shown)), *command]
        environment = {
            **os.environ,
            "PYTHONPATH": ":".join(filter(None, (str(TESTS.parent), str(TESTS), path))),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        for name in without:
            environment.pop(name, None)
        self.process = subprocess.Popen(command, stdin=-1, stdout=-1, env=environment, bufsize=0)
        self.machine, self._next, self._waiting = machine, 1, []
        try:
            self.hello = self.receive()[1]
        except BaseException:
            self.process.kill()  # Or it stays, as do those of the next hundred tests on a busy machine.
            self.process.wait()
            raise

    def send(self, channel, payload):
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        self.process.stdin.write(HEADER.pack(len(data), channel) + data)

    def receive(self):
        """``(channel, JSON)`` of the next frame."""
        header = self._read(HEADER.size)
        length, channel = HEADER.unpack(header)
        return channel, json.loads(self._read(length))

    def _read(self, count):
        data, end = b"", time.monotonic() + patience.SECONDS
        while len(data) < count:
            assert select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0], "zygote is silent"
            part = os.read(self.process.stdout.fileno(), count - len(data))
            assert part, "zygote closed its output"
            data += part
        return data

    def expect(self, channel, kind=None, runner=None):
        """The next frame of this channel (and type and runner); others wait for who asks for them."""

        def wanted(frame):
            body = frame[1]
            return frame[0] == channel and (
                kind is None or body.get("type") == kind and runner in (None, body.get("runner"))
            )

        while True:
            for frame in filter(wanted, self._waiting):
                self._waiting.remove(frame)
                return frame[1]
            self._waiting.append(self.receive())

    def spawn(self, **options):
        """A fresh runner, listening."""
        number, self._next = self._next, self._next + 1
        options = {"uid": NOBODY, "device": "cpu", **options}
        self.send(0, {"type": "spawn", "id": number, "runner": number, **options})
        return Runner(self, number, self.expect(0, "spawned", number))

    def close(self):
        self.process.stdin.close()
        self.process.wait(patience.SECONDS)
        self.process.stdout.close()


class Runner:
    def __init__(self, zygote, number, spawned):
        self.zygote, self.number, self.spawned = zygote, number, spawned
        self.protections = {p["name"]: p["active"] for p in spawned["protections"]}

    def start(self, source):
        self.zygote.send(self.number, source.encode())

    def __call__(self, source):
        self.start(source)
        reply = self.zygote.expect(self.number)
        assert "error" not in reply, reply
        return reply["answer"]

    def exited(self):
        return self.zygote.expect(0, "exited", self.number)

    def kill(self):
        self.zygote.send(0, {"type": "kill", "runner": self.number})
        return self.exited()


def marker():
    """A name for processes of one test, to look for in /proc."""
    return f"kbx{random.getrandbits(40):010x}"


def named(marker):
    """Process ids, in this process's view, of those that called themselves ``marker``."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text().strip() == marker:
                found.append(int(pid))
    return found
