"""The sandbox of agents: what comes in, what goes out, and what is left."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time

import pytest

from kbx.agent import shell

CAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "kbx", "agent", "cage.py")
SECONDS = 120


class Cage:
    """A cage as kbx starts it; ``answers`` are said to its requests."""

    def __init__(self, *words, answers=None, **options):
        self.start(*words, **options)
        self.requests, self.ended, self.refused = [], None, None
        try:
            for line in self.process.stdout:
                self._hear(json.loads(line), answers or {})
            self.process.wait(SECONDS)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()

    def start(self, *words, seconds=60, visible=(), hidden=(), launcher=(CAGE,)):
        order = {
            "words": list(words), "environment": {"HOME": shell.HOME, "SAID": "yes", "PATH": "/usr/bin:/bin"},
            "files": {f"{shell.WORK}/TASK.md": "the task\n", f"{shell.WORK}/solution.py": ""}, "modes": {},
            "visible": [sys.prefix, *visible], "hidden": list(hidden), "uid": 62900, "seconds": seconds,
            "memory_bytes": 4 << 30, "file_bytes": 64 << 20, "processes": 64,
        }  # fmt: skip
        environment = {"PATH": os.environ["PATH"], "KEY": "of kbx"}
        self.process = subprocess.Popen(
            [sys.executable, "-I", *launcher], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._say(order)

    def _say(self, line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def _hear(self, said, answers):
        if said["event"] == "request":
            self.requests.append(said)
            self._say({"id": said["id"], "status": 200, "headers": {}, "body": answers.get(said["target"], "none")})
        elif said["event"] == "ended":
            self.ended = said
        elif said["event"] == "refused":
            self.refused = said["what"]


def python(text):
    return [sys.executable, "-c", text]


def test_program_finds_its_task_and_leaves_its_answer():
    cage = Cage("sh", "-c", "cat TASK.md; echo kernel > solution.py; echo more > notes; ln -s /etc/passwd link; exit 3")
    assert cage.refused is None
    assert cage.ended["output"] == "the task\n"
    assert (cage.ended["status"], cage.ended["solution"]) == (3, "kernel\n")
    assert cage.ended["files"] == {"TASK.md": "the task\n", "notes": "more\n"}
    assert cage.ended["left_out"] == 1


def test_answer_that_is_a_link_or_too_long_is_none(tmp_path):
    for name, text in (("long.py", "x" * ((1 << 20) + 1)), ("binary.py", "\udcff")):
        (tmp_path / name).write_bytes(text.encode(errors="surrogateescape"))
    os.symlink("/etc/passwd", tmp_path / "solution.py")
    os.mkfifo(tmp_path / "pipe.py")
    found = shell.collected(str(tmp_path))
    assert found == {"solution": None, "files": {}, "left_out": 3}


def test_environment_is_what_kbx_says():
    cage = Cage(*python("import os; print(sorted(os.environ.items()))"))
    assert "('SAID', 'yes')" in cage.ended["output"]
    assert "of kbx" not in cage.ended["output"]


def test_requests_are_passed_on_and_answered():
    cage = Cage(
        *python(
            "import http.client\n"
            "for method, body in (('POST', b'abc'), ('GET', None), ('PUT', [b'in ', b'chunks'])):\n"
            "    c = http.client.HTTPConnection('127.0.0.1', 8080, timeout=30)\n"
            "    c.request(method, '/there', body)\n"
            "    print(c.getresponse().read().decode())\n"
        ),
        answers={"/there": "h\u00e9llo"},
    )
    assert cage.ended["output"] == "h\u00e9llo\n" * 3
    assert [(r["method"], r["body"]) for r in cage.requests] == [("POST", "abc"), ("GET", ""), ("PUT", "in chunks")]


class SlowCage(Cage):
    """Answers nothing for some time; ``early`` requests came meanwhile."""

    early, answers_now = 0, False

    def _hear(self, said, answers):
        if said["event"] != "request":
            super()._hear(said, answers)
        elif self.early == 0:
            self.early, self.held = 1, [said]
            threading.Timer(3, self._answer_all, [answers]).start()
        elif not self.answers_now:
            self.early += 1
            self.held.append(said)
        else:
            super()._hear(said, answers)

    def _answer_all(self, answers):
        self.answers_now = True  # before those that wait for an answer to these come
        for said in self.held:
            super()._hear(said, answers)


def test_requests_wait_for_one_another():
    cage = SlowCage(
        *python(
            "import http.client, threading\n"
            "def ask():\n"
            "    c = http.client.HTTPConnection('127.0.0.1', 8080, timeout=60)\n"
            "    c.request('POST', '/there', b'abc')\n"
            "    print(c.getresponse().read().decode() + chr(10), end='')\n"
            "threads = [threading.Thread(target=ask) for _ in range(12)]\n"
            "for each in threads: each.start()\n"
            "for each in threads: each.join()\n"
        )
    )
    assert cage.ended["output"] == "none\n" * 12
    assert cage.early == 8


@pytest.mark.parametrize(("length", "status"), [(8 << 20, 200), ((8 << 20) + 1, 413)])
def test_long_requests_are_not_passed_on(length, status):
    cage = Cage(
        *python(
            "import http.client\n"
            "c = http.client.HTTPConnection('127.0.0.1', 8080, timeout=60)\n"
            "c.putrequest('POST', '/there')\n"
            f"c.putheader('Content-Length', '{length}')\n"
            "c.endheaders()\n"
            f"if {status} == 200: c.send(b'x' * {length})\n"
            "print(c.getresponse().status)\n"
        )
    )
    assert cage.ended["output"] == f"{status}\n"
    assert len(cage.requests) == (status == 200)


def test_end_of_time_leaves_the_files():
    cage = Cage("sh", "-c", "echo kernel > solution.py; (sleep 600 &) ; sleep 600", seconds=2)
    assert cage.ended["stopped"] == "its 2 s are over"
    assert cage.ended["solution"] == "kernel\n"


def test_what_was_tried_in_vain_is_counted():
    cage = Cage(
        *python(
            "import ctypes, socket\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            "for _ in range(3): print(libc.unshare(0x10000000), ctypes.get_errno())\n"
            "for address in (('192.0.2.1', 80), ('127.0.0.1', 9), ('127.0.0.1', 53)):\n"
            "    try: socket.create_connection(address, 3)\n"
            "    except OSError as error: print(type(error).__name__)\n"
        )
    )
    assert cage.ended["output"].count("-1 1\n") == 3
    assert cage.ended["refused"] == {
        "system call: unshare": 3, "network: 192.0.2.1 port 80": 1, "network: a name": 1,
    }  # fmt: skip


def test_folders_are_seen_and_not_written_and_hidden_ones_are_empty(tmp_path):
    (tmp_path / "tool" / "secret").mkdir(parents=True)
    (tmp_path / "tool" / "data").write_text("data\n")
    (tmp_path / "tool" / "secret" / "key").write_text("key\n")
    for folder in (tmp_path, *tmp_path.rglob("*")):
        folder.chmod(0o755)
    tool = str(tmp_path / "tool")
    cage = Cage(
        "sh", "-c", f"cat {tool}/data; ls -A {tool}/secret; echo x > {tool}/data; ls {os.path.dirname(CAGE)}",
        visible=[tool], hidden=[f"{tool}/secret"],
    )  # fmt: skip
    assert cage.ended["output"].startswith("data\n")
    assert "key" not in cage.ended["output"]
    assert "Read-only" in cage.ended["output"]
    assert "No such file" in cage.ended["output"]
    assert (tmp_path / "tool" / "data").read_text() == "data\n"


def test_output_keeps_its_beginning_and_its_end():
    cage = Cage(*python("print('first'); print('x' * (2 << 20)); print('last')"))
    assert cage.ended["output"].startswith("first\n")
    assert cage.ended["output"].endswith("x\nlast\n")
    assert cage.ended["dropped"] > 1 << 20


@pytest.mark.parametrize("word", ["/no/such/program", "no-such-program"])
def test_missing_program_is_named(word):
    cage = Cage(word)
    assert cage.ended["status"] == 127
    assert "--program-files" in cage.ended["output"]


def test_probe_says_whether_this_machine_shuts_in():
    done = subprocess.run([sys.executable, "-I", CAGE, "--probe"], capture_output=True, text=True, timeout=SECONDS)
    assert json.loads(done.stdout) == {"event": "started"}


def test_what_a_machine_lacks_is_said_in_a_line():
    """Within a cage no other can be made: as on a machine that refuses namespaces."""
    worker = os.path.dirname(os.path.dirname(os.path.dirname(CAGE)))
    cage = Cage(sys.executable, "-I", CAGE, "--probe", visible=[os.path.join(worker, "kbx")])
    said = json.loads(cage.ended["output"])
    assert said["event"] == "refused"
    assert said["what"].startswith("no namespace of its own for ")
    assert all(name in said["what"] for name in ("user", "files", "processes", "network"))


@pytest.mark.parametrize("refused", ["install_watched", "_install"])
def test_program_is_filtered_or_not_started(refused):
    """Of one process only one filter is answered: a container's may be that one. A machine may have no filters at all."""
    launcher = (
        "import os, runpy, sys\n"
        f"sys.path.insert(0, {os.path.dirname(os.path.dirname(os.path.dirname(CAGE)))!r})\n"
        "from kbx.runner import seccomp\n"
        "def refused(*_): raise OSError(16, 'busy')\n"
        f"seccomp.install_watched = seccomp.{refused} = refused\n"
        f"runpy.run_path({CAGE!r}, run_name='__main__')\n"
    )
    cage = Cage(
        *python(
            "import ctypes, http.client\n"
            "print(ctypes.CDLL(None, use_errno=True).unshare(0x10000000), ctypes.get_errno())\n"
            "c = http.client.HTTPConnection('127.0.0.1', 8080); c.request('GET', '/'); print(c.getresponse().status)\n"
        ),
        launcher=["-c", launcher],
    )
    if refused == "_install":
        assert cage.ended is None
        assert cage.refused == "no filter of system calls: seccomp (busy)"
    else:
        assert cage.ended["output"] == "-1 1\n200\n"


def test_end_of_kbx_ends_the_program():
    mark = "86399.25"
    cage = Cage.__new__(Cage)
    script = f"import http.client, subprocess; subprocess.Popen(['sleep', '{mark}'])\n"
    script += "c = http.client.HTTPConnection('127.0.0.1', 8080); c.request('GET', '/'); c.getresponse()"
    cage.start(*python(script))
    try:
        assert any(json.loads(line)["event"] == "request" for line in cage.process.stdout)
        assert running(mark)
        cage.process.stdin.close()
        assert cage.process.wait(SECONDS) == 0
        deadline = time.monotonic() + SECONDS
        while running(mark) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not running(mark)
    finally:
        cage.process.kill()
        cage.process.wait()
        cage.process.stdout.close()


def running(word):
    """Whether a process of this machine has the argument."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline") as file:
            if word in file.read().split("\0"):
                return True
    return False
