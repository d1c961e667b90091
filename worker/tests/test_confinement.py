"""An oracle for task files that are somebody else's: what they reach, and that it judges."""

import json
import os
import signal
import socket
import subprocess
import sys

import patience
import pytest
import torch
from oracle_process import TASKS, WORKER, OracleProcess

from kbx.messages import Failed
from kbx.messages import oracle as messages

HOSTILE = '''"""A task that looks around."""
import json, os, socket

def tried(what):
    try:
        return what()
    except Exception as error:
        return type(error).__name__

def connect():
    with socket.create_connection(("127.0.0.1", PORT), timeout=5):
        return "connected"

raise RuntimeError(json.dumps({
    "marker": tried(lambda: open(MARKER, "w").close()),
    "beside": tried(lambda: open(os.path.join(os.path.dirname(__file__), "marker"), "w").close()),
    "secret": tried(lambda: open(SECRET).read()),
    "outside": tried(lambda: open(OUTSIDE).read()),
    "home": tried(lambda: os.listdir(HOME)),
    "network": tried(connect),
    "key": os.environ.get("SOME_API_KEY"),
    "uid": os.geteuid(),
    "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit()),
}))
'''


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "suite" / "Category"
    folder.mkdir(parents=True)
    return folder


def test_a_hostile_task_learns_and_leaves_nothing(suite, tmp_path, monkeypatch):
    state = tmp_path / "home" / ".local" / "state" / "kbx"
    state.mkdir(parents=True)
    (state / "secret").write_text("the seeds")
    (tmp_path / "outside").write_text("other data")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        given = {
            "PORT": server.getsockname()[1], "MARKER": str(tmp_path / "marker"), "SECRET": str(state / "secret"),
            "OUTSIDE": str(tmp_path / "outside"), "HOME": str(tmp_path / "home"),
        }  # fmt: skip
        text = "".join(f"{name} = {value!r}\n" for name, value in given.items())
        (suite / "spy.py").write_text(HOSTILE.replace("\ndef tried", "\n" + text + "\ndef tried", 1))
        oracle = OracleProcess("--confine", str(suite.parent), "--uid", "61000")
        answer = oracle.ask(messages.TraceShapes, task=str(suite / "spy.py"), timed=False)
        oracle.close()
    assert isinstance(answer, Failed)
    found = json.loads(answer.message.partition("RuntimeError: ")[2])
    nothing = ("beside", "secret", "outside", "home", "network")
    assert all(isinstance(found[name], str) and found[name].endswith("Error") for name in nothing), found
    assert found["processes"] == [1, 2]
    assert found["uid"] != 0
    assert not (tmp_path / "marker").exists()
    assert os.listdir(suite) == ["spy.py"]


def test_confined_oracle_judges_and_ends_with_the_referee(suite):
    text = (TASKS / "Activation" / "gelu.py").read_text()
    (suite / "gelu.py").write_text(text.replace("import torch", "import time\nimport torch", 1))
    oracle = OracleProcess("--confine", str(suite.parent), "--uid", "61000")
    _, runner = oracle.open(suite / "gelu.py", 1)
    assert runner.judge(0, torch.nn.functional.gelu).status == "correct"
    oracle.ask(messages.Close)
    oracle.close()


def test_hanging_oracle_is_killed_with_the_referee(suite):
    # It keeps the thread from ending that waits for the end of the referee.
    text = '"""Holds on."""\nimport os, time\nos._exit = lambda code: time.sleep(1000)\n'
    (suite / "spy.py").write_text(text)
    oracle = OracleProcess("--confine", str(suite.parent), "--uid", "61000")
    oracle.ask(messages.TraceShapes, task=str(suite / "spy.py"), timed=False)
    oracle.process.stdin.close()
    assert oracle.process.wait(patience.SECONDS) == 128 + signal.SIGKILL
    assert oracle.process.stdout.read() == b""
    oracle.process.stdout.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user stays who it is")
def test_root_must_name_a_user(suite):
    command = [sys.executable, "-m", "kbx.oracle", "--confine", str(suite.parent)]
    ended = subprocess.run(
        command, cwd=WORKER, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=patience.SECONDS
    )
    assert ended.returncode == 3, ended.stderr
    assert ended.stderr.endswith("it is started as root and is not told which user to become\n")
