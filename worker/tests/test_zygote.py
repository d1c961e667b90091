"""The life of the zygote: start, relay, and what is left when it or the referee dies."""

import os
import signal
import socket

import patience
import pytest
import sandbox_harness as harness
from patience import eventually

from kbx.executor.channel import EXECUTOR
from kbx.oracle import arenas

LINGER = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open('/proc/self/comm', 'w').write('{name}')
        while True: time.sleep(60)
    os._exit(0)
open('/proc/self/comm', 'w').write('{name}')
"""


@pytest.fixture
def zygote(zygote_on):
    return zygote_on("plain")


@pytest.fixture
def mortal():
    """One of its own for a test that ends it."""
    zygote = harness.Zygote()
    yield zygote
    zygote.close()


@pytest.fixture
def runner(zygote):
    runner = zygote.spawn()
    yield runner
    runner.kill()


def test_hello_is_sent(zygote):
    hello = zygote.hello
    assert (hello["type"], hello["role"], hello["pid"]) == ("hello", "zygote", zygote.process.pid)
    assert {"python", "torch", "triton"} <= hello["versions"].keys()


def test_zygote_starts_without_a_locale():
    zygote = harness.Zygote(without=("LANG", "LC_ALL", "LC_CTYPE"))
    assert zygote.hello["type"] == "hello"
    zygote.close()


def test_end_of_input_ends_all_processes(mortal):
    name = harness.marker()
    for _ in range(2):
        mortal.spawn()(LINGER.format(name=name))
    mortal.close()
    assert mortal.process.returncode == 0
    assert harness.named(name) == []


def test_death_of_the_zygote_ends_all_processes(mortal):
    name = harness.marker()
    mortal.spawn()(LINGER.format(name=name))
    os.kill(mortal.process.pid, signal.SIGKILL)
    assert eventually(lambda: harness.named(name) == [])


def test_runners_are_relayed_concurrently(zygote):
    runners = [zygote.spawn() for _ in range(4)]
    for wait, runner in zip((0.04, 0.03, 0.02, 0.01), runners, strict=True):
        runner.start(f"import time; time.sleep({wait}); answer = spawn.runner")
    assert [zygote.expect(r.number)["answer"] for r in runners] == [r.number for r in runners]
    for runner in runners:
        runner.kill()


def test_large_frames_pass_whole(runner):
    assert runner(f"answer = len({'x' * (8 << 20)!r})") == 8 << 20
    assert len(runner("answer = 'y' * (3 << 20)")) == 3 << 20


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="this kernel does not count it")
def test_processor_wait_of_a_runner_is_reported(zygote, runner):
    def waited(number):
        zygote.send(0, {"type": "wait", "id": 7, "runner": number})
        return zygote.expect(0, "waited")["seconds"]

    runner("""
import os, time
me = os.getpid()
for _ in range(2 * len(os.sched_getaffinity(0))):
    os.getpid() == me and os.fork()
while time.process_time() < 0.2: pass
while os.getpid() != me: time.sleep(60)
""")
    assert waited(runner.number) > 0.1
    assert waited(99) == 0


def test_a_channel_in_use_is_refused(zygote, runner):
    zygote.send(0, {"type": "spawn", "id": 99, "runner": runner.number, "device": "cpu"})
    assert zygote.expect(0, "failed")["id"] == 99
    assert runner("answer = 5") == 5


def test_missing_oracle_fails_the_spawn(zygote):
    zygote.send(0, {"type": "spawn", "id": 999, "runner": 999, "device": "cpu", "data_address": "kbx-nobody"})
    assert zygote.expect(0, "failed")["reason"] == "internal"


def test_data_sockets_carry_the_runner_number(zygote):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        address = harness.marker()
        listener.bind("\0" + address)
        listener.listen()
        runner = zygote.spawn(data_address=address)
        peer, executor = listener.accept()[0], listener.accept()[0]
        with peer, executor:
            assert peer.recv(4) == runner.number.to_bytes(4, "big")
            assert executor.recv(4) == (runner.number | EXECUTOR).to_bytes(4, "big")
            runner("data_sock.sendall(b'hello'); answer = data_sock.fileno()")
            assert peer.recv(5) == b"hello"
        runner.kill()


@pytest.mark.parametrize("concurrent", [False, True])
def test_recorder_beside_a_runner_on_a_gpu_is_handed_to_the_oracle_it_is_introduced_to(zygote, concurrent):
    handing = arenas.DataSocket(hands_over=True)
    runner = zygote.spawn(device="cuda", data_address=handing.address, concurrent=concurrent)
    handing.offer(runner.number, ())
    zygote.send(0, {"type": "introduce", "runner": runner.number, "data_address": handing.address})
    oracle = handing.executor(runner.number).connection
    oracle.sendall(b"what did it do?")
    runner("executor.connection.sendall(b'this; ')")
    oracle.settimeout(patience.SECONDS)
    assert oracle.recv(100) == b"this; what did it do?"
    runner.kill()


def test_runner_without_a_recorder_is_waited_for_once(monkeypatch):
    monkeypatch.setattr(arenas, "_PEER_TIMEOUT", 0.2)
    handing = arenas.DataSocket(hands_over=True)
    assert handing.executor(7) is None
    monkeypatch.setattr(arenas, "_PEER_TIMEOUT", 1e6)
    assert handing.executor(7) is None


def processor_seconds(pid):
    """What a process and those that it has waited for have used."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.later
def test_spawn_is_much_faster_than_a_start(zygote, mortal):
    """By processor time: what else the machine does is not in it, and a slow one is slow at both."""
    start = processor_seconds(mortal.process.pid)
    before = processor_seconds(zygote.process.pid)
    for _ in range(9):
        zygote.spawn().kill()
    assert (processor_seconds(zygote.process.pid) - before) / 9 < start / 10
