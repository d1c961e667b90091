"""The zygote and an oracle that share one import of torch are apart in all else."""

import contextlib
import os
import secrets
import signal
import socket
import threading
import time

import patience
import pytest
import sandbox_harness as harness
from oracle_process import SEED, TASKS, OracleProcess
from patience import eventually, has_ended

from kbx.messages import oracle as messages

SECRET = "a-key-of-the-referee"


class Pair:
    """A zygote and an oracle, started at the same time as the referee does."""

    def __init__(self):
        address = "kbx-test-" + secrets.token_hex(8)
        starting = threading.Thread(target=self._start_oracle, args=(address,))
        starting.start()
        self.zygote = harness.Zygote("--share-import", address)
        starting.join(patience.SECONDS)

    def _start_oracle(self, address):
        self.oracle = OracleProcess("--share-import", address)

    def close(self):
        for process in (self.oracle.process, self.zygote.process):
            with contextlib.suppress(OSError):
                process.stdin.close()
            process.wait(patience.SECONDS)
            process.stdout.close()


@pytest.fixture
def pair(monkeypatch):
    monkeypatch.setenv("KBX_TEST_SECRET", SECRET)
    pair = Pair()
    yield pair
    pair.close()


def parent(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[1])


def test_both_are_forked_from_one_process_and_live_apart(pair):
    first = pair.zygote.process.pid
    assert parent(pair.oracle.hello.pid) == parent(pair.zygote.hello["pid"]) == first
    assert len({first, pair.oracle.hello.pid, pair.zygote.hello["pid"], pair.oracle.process.pid}) == 4
    opened = pair.oracle.ask(messages.Open, task=str(TASKS / "Activation" / "gelu.py"), seed=SEED, runner=7)
    assert isinstance(opened, messages.Opened)
    runner = pair.zygote.spawn()
    assert runner("answer = 1 + 1") == 2
    seen = runner("answer = open('/proc/self/environ').read() + repr(dict(__import__('os').environ))")
    assert SECRET not in seen
    runner.kill()
    # Nobody else has a descriptor of the oracle: its output ends with it, while the zygote goes on.
    pair.oracle.process.stdin.close()
    assert pair.oracle.process.stdout.read() == b""
    assert pair.oracle.process.wait(patience.SECONDS) == 0
    assert pair.zygote.spawn()("answer = 2 + 2") == 4
    pair.zygote.process.stdin.close()
    assert pair.zygote.process.stdout.read() == b""
    assert pair.zygote.process.wait(patience.SECONDS) == 0


def test_an_oracle_whose_stand_in_is_killed_ends(pair):
    pair.oracle.process.kill()
    assert eventually(lambda: has_ended(pair.oracle.hello.pid))
    assert eventually(lambda: not os.path.exists(f"/proc/{pair.oracle.hello.pid}"))  # it has been waited for
    assert pair.zygote.spawn()("answer = 3") == 3
    assert pair.zygote.process.poll() is None


def test_a_killed_oracle_is_reported_as_killed(pair):
    os.kill(pair.oracle.hello.pid, signal.SIGKILL)
    assert pair.oracle.process.wait(patience.SECONDS) == -signal.SIGKILL
    assert pair.zygote.spawn()("answer = 4") == 4
    assert pair.zygote.process.poll() is None


def test_both_end_with_what_they_were_forked_from(pair):
    pair.zygote.process.kill()
    assert eventually(lambda: has_ended(pair.oracle.hello.pid) and has_ended(pair.zygote.hello["pid"]))
    assert pair.oracle.process.wait(patience.SECONDS) == 1


def test_without_an_oracle_there_is_one_process():
    zygote = harness.Zygote("--share-import", "kbx-test-" + secrets.token_hex(8))
    assert zygote.hello["pid"] == zygote.process.pid
    zygote.close()


def test_only_what_the_same_referee_started_is_forked():
    """This process has the same user, and another parent."""
    address = "kbx-test-" + secrets.token_hex(8)
    heard = []

    def connect():
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
            stranger.settimeout(patience.SECONDS)
            end = time.monotonic() + patience.SECONDS
            while stranger.connect_ex("\0" + address) != 0 and time.monotonic() < end:
                time.sleep(0.005)
            with contextlib.suppress(ConnectionError):
                heard.append(stranger.recv(1))

    connecting = threading.Thread(target=connect)
    connecting.start()
    zygote = harness.Zygote("--share-import", address)
    connecting.join(patience.SECONDS)
    assert zygote.hello["pid"] == zygote.process.pid
    assert heard == [b""]
    zygote.close()


def test_an_oracle_imports_by_itself_when_nobody_forks_it():
    address = "kbx-test-" + secrets.token_hex(8)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind("\0" + address)
        listener.listen(1)

        def refuse():
            listener.settimeout(patience.SECONDS)
            listener.accept()[0].close()

        refusing = threading.Thread(target=refuse)
        refusing.start()
        oracle = OracleProcess("--share-import", address)
        refusing.join(patience.SECONDS)
    assert oracle.hello.pid == oracle.process.pid
    oracle.close()
