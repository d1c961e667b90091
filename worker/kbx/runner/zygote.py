"""The fork server: ``python -m kbx.runner.zygote`` with torch and Triton imported forks one sandboxed runner a candidate.

It relays frames between the referee on its stdin and stdout and the runners' sockets, and reads none but its own
(channel 0: ``spawn``, ``wait``, ``kill``). It never waits for a runner: a full socket is a bounded backlog, a broken frame or an
overrun ends that runner alone. End of file on stdin ends every runner and then the zygote.

It must stay fork-safe: one thread, no CUDA context, and no candidate's bytes in its heap (see ``kbx.runner.relay``).
"""

import argparse
import contextlib
import gc
import importlib
import json
import os
import platform
import select
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time

from kbx import PROTOCOL, bytecode, cores, one_import, protocol
from kbx.executor.channel import EXECUTOR, HEAP_BYTES
from kbx.messages import Failed, Hello
from kbx.messages import zygote as messages
from kbx.runner import kernel_packages, linux, mounts, processes, relay, sandbox, toolkit

# Python itself sets LC_CTYPE where nobody chose a locale. With the oracle's hash seed, which may be forked from this process, sets have one
# order in every run.
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "TMPDIR", "HOME", "CUDA_HOME",
                "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED")  # fmt: skip
_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
_WATCH_SECONDS = 0.25
"""At least, between two looks at what a runner holds in memory."""
_REAP_SECONDS = 0.002
_LAST_PATIENCE = 10.0
"""How long the zygote, about to exit, waits for killed processes; the kernel ends them anyway."""
_REFEREE_BACKLOG = 4 * protocol.MAX_RUNNER_FRAME
_RUNNER_BACKLOG = protocol.MAX_TRUSTED_FRAME + (1 << 20)
_OWN_FRAMES = 256 << 10
"""Room in the backlog to the referee that relayed frames leave to the zygote's own."""


class Runner:
    """The zygote's side of one runner: its first process, its descriptors and what is queued for it."""

    def __init__(self, spawn, pid, control, output, status, scratch, heap, recorder):
        self.spawn, self.number, self.pid, self.scratch = spawn, spawn.runner, pid, scratch
        self.control, self.output_fd, self.status_fd, self._heap = control, output, status, heap
        self._recorder = recorder
        """The oracle's end of the connection to its recorder, until there is an oracle."""
        self.inbox = relay.runner_reader(control.fileno())
        self.outbox = relay.Buffer(_RUNNER_BACKLOG)
        self.output = relay.OutputTail(output)
        self.started = self.watched = time.monotonic()
        self.init = None
        self.answered = False
        self.talking = True
        """False once the runner has closed its socket, or is not listened to any more."""
        self.ending = False
        """True once its process tree has ended or been killed."""
        self.gone = False
        """True once that tree is reaped."""
        self.reason = self.detail = self.status = self.peak = None
        self._lines = b""

    def introduce(self, address):
        """Hands the connection to its recorder over to the oracle at this address, once."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        # An oracle that has ended says so itself.
        with recorder, contextlib.suppress(OSError), _connect(address, self.number | EXECUTOR) as oracle:
            socket.send_fds(oracle, [b"+"], [recorder.fileno()])

    def read_status(self):
        """Returns the lines newly written by the trusted part of the sandbox; None at end of file."""
        try:
            data = os.read(self.status_fd, 65536)
        except BlockingIOError:
            return []
        if not data:
            return None
        *lines, self._lines = (self._lines + data).split(b"\n")
        return lines

    def shared_bytes(self, mapped):
        """What its processes share, of which they have ``mapped`` so much. With an executor that is the same memory, of which the file counts
        that they have unmapped as well; where it has none they may share nothing with one another."""
        return sum(mapped) if self._heap is None else max(*mapped, os.fstat(self._heap).st_blocks * 512)

    def close(self):
        if self._heap is not None:
            os.close(self._heap)
        if self._recorder is not None:
            self._recorder.close()
        self.control.close()
        os.close(self.output_fd)
        os.close(self.status_fd)
        for buffer in (self.inbox, self.outbox, self.output):
            buffer.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


class Zygote:
    """The poll loop. Every descriptor in it is non-blocking."""

    def __init__(self, referee_in, referee_out, bench, trees):
        self._in, self._out, self._bench, self._trees = referee_in, referee_out, bench, trees
        self._inbox = relay.referee_reader(referee_in)
        self._outbox = relay.Buffer(_REFEREE_BACKLOG + _OWN_FRAMES)
        self._runners = {}
        self._inherited = processes.resident(os.getpid())[0]

    def run(self):
        """Serves until the referee is gone; leaves no process behind."""
        try:
            while self._turn():
                pass
        finally:
            self._end_all()

    def send(self, message):
        self._put(protocol.encode(message))

    def _put(self, payload):
        self._outbox.append(protocol.HEADER.pack(len(payload), 0))
        self._outbox.append(payload)

    def _end_all(self):
        deadline = time.monotonic() + _LAST_PATIENCE
        for runner in self._runners.values():
            self._end(runner, "killed")
        for runner in self._runners.values():
            while not runner.gone and time.monotonic() < deadline:
                time.sleep(_REAP_SECONDS)
                self._reap(runner)
            runner.close()

    # ------------------------------------------------------------ one turn

    def _turn(self):
        """Waits for something to do and does it; False when the referee is gone."""
        ready = self._poll()
        try:
            if self._out in ready:
                self._outbox.write_to(self._out)
        except OSError:
            return False
        if self._in in ready and not self._hear_referee():
            return False
        for runner in list(self._runners.values()):
            self._serve_runner(runner, ready)
        self._watch()
        return True

    def _poll(self):
        poll = select.poll()
        poll.register(self._in, select.POLLIN)
        if len(self._outbox):
            poll.register(self._out, select.POLLOUT)
        timeout = None
        for runner in self._runners.values():
            if runner.ending:
                timeout = _REAP_SECONDS * 1000
                continue
            timeout = timeout or _WATCH_SECONDS / len(self._runners) * 1000
            listen = select.POLLIN if runner.talking and self._has_room() else 0
            if events := listen | (select.POLLOUT if len(runner.outbox) else 0):
                poll.register(runner.control, events)
            poll.register(runner.output_fd, select.POLLIN)
            poll.register(runner.status_fd, select.POLLIN)
        return {fd for fd, _ in poll.poll(timeout)}

    def _has_room(self):
        return self._outbox.room >= protocol.MAX_RUNNER_FRAME + protocol.HEADER.size + _OWN_FRAMES

    def _hear_referee(self):
        if self._inbox.receive() == 0:
            return False
        while (got := self._inbox.frame()) is not None:
            channel, frame = got
            if channel == 0:
                self._obey(protocol.decode(bytes(frame[protocol.HEADER.size :]), messages.REQUESTS))
            elif channel in self._runners:
                self._forward(self._runners[channel], frame)
            self._inbox.done(frame)
        return True

    def _forward(self, runner, frame):
        """Queues a frame of the referee for its runner, renumbered to the runner's own channel 0."""
        if not runner.talking:
            return
        if len(frame) > runner.outbox.room:
            self._end(runner, "protocol", "the runner does not read the messages that it is sent")
            return
        runner.outbox.append(protocol.HEADER.pack(len(frame) - protocol.HEADER.size, 0))
        runner.outbox.append(frame[protocol.HEADER.size :])

    def _obey(self, message):
        if isinstance(message, messages.Spawn):
            try:
                self._spawn(message)
            except (OSError, RuntimeError) as error:
                self.send(Failed(message.id, "internal", f"cannot start a runner: {error}"))
            return
        runner = self._runners.get(message.runner)
        if isinstance(message, messages.Wait):
            waited = processes.waited_below(runner.init) if runner is not None and runner.init is not None else 0.0
            self.send(messages.Waited(message.id, waited))
        elif isinstance(message, messages.Introduce):
            if runner is not None:
                runner.introduce(message.data_address)
        elif runner is not None:
            self._end(runner, "killed")

    # ------------------------------------------------------------ a runner's life

    def _spawn(self, spawn):
        if spawn.runner in self._runners or spawn.runner <= 0:
            raise RuntimeError(f"channel {spawn.runner} is in use")
        with bytecode.writing():
            self._bench.before_fork(spawn)
        gc.freeze()  # what that has loaded; see main
        if (threads := len(os.listdir("/proc/self/task"))) != 1:
            raise RuntimeError(f"the zygote has {threads} threads and can fork safely with one only")
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            on_cpu = spawn.device == "cpu"
            data = (
                theirs.enter_context(_connect(spawn.data_address, spawn.runner))
                if spawn.data_address and on_cpu
                else None
            )
            beside = self._beside(spawn)
            heap = _make_heap() if beside and on_cpu else None
            oracle, recorder = None, None
            if beside and on_cpu:
                oracle = theirs.enter_context(_connect(spawn.data_address, spawn.runner | EXECUTOR))
            elif beside:
                recorder, oracle = socket.socketpair()
                ours.callback(recorder.close)
                theirs.callback(oracle.close)
            if heap is not None:
                ours.callback(os.close, heap)
            control, far = socket.socketpair()
            ours.callback(control.close)
            theirs.callback(far.close)
            (output, output_far), (status, status_far) = os.pipe(), os.pipe()
            for fd in (output, status):
                os.set_blocking(fd, False)
                ours.callback(os.close, fd)
            for fd in (output_far, status_far):
                theirs.callback(os.close, fd)
            control.setblocking(False)
            scratch = os.path.join(tempfile.gettempdir(), f"kbx-runner-{os.getpid()}-{spawn.runner}")
            tree = self._trees[spawn.device].with_gpu(spawn.device_uuid)
            cell = sandbox.Cell(
                spawn, tree, far, data, output_far, status_far, scratch, self._bench.serve, oracle, heap, beside
            )
            pid = os.fork()
            if pid == 0:
                sandbox.launch(cell)
            ours.pop_all()
        self._runners[spawn.runner] = Runner(spawn, pid, control, output, status, scratch, heap, recorder)

    def _beside(self, spawn):
        """What runs beside a runner; None for one without an oracle, and for one that is timed: nobody asks for its records."""
        if not spawn.data_address or spawn.timed:
            return None
        return getattr(self._bench, "BESIDE", {}).get(spawn.device)

    def _serve_runner(self, runner, ready):
        if runner.ending:
            self._reap(runner)
        elif runner.status_fd in ready:
            self._hear_sandbox(runner)
        if runner.output_fd in ready:
            runner.output.receive()
        if runner.control.fileno() in ready and len(runner.outbox):
            try:
                runner.outbox.write_to(runner.control.fileno())
            except OSError:
                runner.outbox.drop(len(runner.outbox))
        if runner.talking and (runner.control.fileno() in ready or runner.gone):
            self._hear_runner(runner)
        if runner.gone and not runner.talking and self._outbox.room >= _OWN_FRAMES:
            self._bury(runner)

    def _hear_sandbox(self, runner):
        lines = runner.read_status()
        if lines is None:
            self._end(runner, None)
            return
        for line in lines:
            body = json.loads(line)
            runner.init = body.get("init", runner.init)
            runner.status = body.get("ended", runner.status)
            runner.peak = body.get("peak", runner.peak)
            if "refused" in body:
                runner.detail = body["refused"]
            if "ready" in body:
                runner.answered = True
                seconds = time.monotonic() - runner.started
                self.send(messages.Spawned(runner.spawn.id, runner.number, seconds, body["ready"]))

    def _hear_runner(self, runner):
        """Relays every whole frame that there is room for; what is left over waits for the next turn."""
        try:
            while self._has_room():
                got = runner.inbox.frame()
                if got is None:
                    count = runner.inbox.receive()
                    if count is None and not runner.gone:
                        return
                    if not count:
                        runner.talking = False
                        return
                    continue
                channel, frame = got
                if channel != 0:
                    raise protocol.ProtocolError(f"the runner sent a frame for channel {channel}, which is not its own")
                self._outbox.append(protocol.HEADER.pack(len(frame) - protocol.HEADER.size, runner.number))
                self._outbox.append(frame[protocol.HEADER.size :])
                runner.inbox.done(frame)
        except protocol.ProtocolError as error:
            self._end(runner, "protocol", str(error))

    def _end(self, runner, reason, detail=None):
        """Ends the tree of a runner. ``reason`` None: it ended by itself, and what it sent is still relayed."""
        if runner.ending:
            return
        while lines := runner.read_status():  # how far it got, if it was only just forked
            for line in lines:
                runner.init = json.loads(line).get("init", runner.init)
        runner.ending = True
        runner.reason, runner.detail = reason, detail or runner.detail
        if reason is not None:
            runner.talking = False
        self._reap(runner)

    def _reap(self, runner):
        others = {other.pid for other in self._runners.values() if other is not runner}
        runner.gone = runner.gone or processes.end_tree(runner.pid, runner.init, others)

    def _bury(self, runner):
        """Tells the referee that a runner is gone, and how it ended.

        A spawn is answered by ``spawned`` or ``failed``; who was spawned or killed ends with one ``exited``.
        """
        while runner.output.receive():
            pass
        if not runner.answered:
            message = runner.detail or "the sandbox could not be set up"
            self.send(Failed(runner.spawn.id, "internal", message))
        if runner.answered or runner.reason == "killed":
            self._put(_exited(runner).view())
        del self._runners[runner.number]
        runner.close()

    def _watch(self):
        """Ends a runner whose processes hold more memory than they may.

        One a turn: looking at a dozen takes milliseconds, in which no other runner's answer is relayed.
        """
        watchable = [runner for runner in self._runners.values() if runner.init is not None and not runner.ending]
        runner = min(watchable, key=lambda runner: runner.watched, default=None)
        if runner is None or time.monotonic() - runner.watched < _WATCH_SECONDS:
            return
        own, shared = processes.resident_below(runner.init, self._inherited)
        used, allowed = own + runner.shared_bytes(shared), runner.spawn.memory_bytes
        runner.watched = time.monotonic()
        if used > allowed:
            self._end(runner, "memory", f"{used >> 20} MiB resident, {allowed >> 20} MiB allowed")


def _connect(address, number):
    """A connection to the oracle at this address, introduced by the number of a runner, or of its executor."""
    data = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        data.settimeout(1.0)
        data.connect("\0" + address.lstrip("\0@"))
        data.sendall(struct.pack(">I", number))
        data.settimeout(None)
    except BaseException:
        data.close()
        raise
    return data


def _make_heap():
    """A file in memory for a candidate's tensors, None where there is none. Only here: a runner may not make one."""
    try:
        descriptor = os.memfd_create("kbx-heap", os.MFD_CLOEXEC)
        os.ftruncate(descriptor, HEAP_BYTES)
    except OSError:
        return None
    return descriptor


def _exited(runner):
    """Payload of ``exited``, in a buffer: the output goes there straight from its own."""
    body = messages.Exited(runner.number, runner.reason, detail=runner.detail, peak_bytes=runner.peak)
    if runner.reason is None:
        status = runner.status
        body.reason = "exit" if status is not None and os.WIFEXITED(status) else "signal"
        if status is not None:
            code = os.waitstatus_to_exitcode(status)
            body.code, body.signal = (code, None) if code >= 0 else (None, -code)
    payload = relay.Buffer(_OWN_FRAMES)
    payload.append(protocol.encode(body)[:-1])
    if len(runner.output):
        payload.append(b',"output":')
        runner.output.write_json(payload.append)
    payload.append(b"}")
    return payload


# ---------------------------------------------------------------- start


def _clean_environment():
    """Starts this program afresh without the referee's environment: a runner can read what its process began with."""
    wanted = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ} | _ONE_THREAD
    if dict(os.environ) != wanted:
        os.execve(sys.executable, sys.orig_argv, wanted)


def _private_descriptors():
    """Moves the protocol away from 0 and 1, where a print would corrupt it; returns both."""
    pair = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    for fd in pair:
        os.set_blocking(fd, False)
    return pair


def _warm(bench):
    """Imports what every candidate needs and lets the compiler run once; returns the versions for ``hello``."""
    import torch
    import triton

    from kbx.runner import native

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        bench.warm()
        del os.environ["TRITON_CACHE_DIR"]
    versions = {"python": platform.python_version(), "torch": torch.__version__, "triton": triton.__version__}
    return versions | toolkit.versions() | native.versions() | kernel_packages.versions()


def main():
    parser = argparse.ArgumentParser(prog="kbx.runner.zygote", description=__doc__.splitlines()[0])
    parser.add_argument("--hide", action="append", default=[], metavar="DIR", help="folder no runner may see")
    parser.add_argument(
        "--bench",
        default="kbx.runner.bench",
        metavar="MODULE",
        help="module whose warm() and before_fork() run here, and serve() there",
    )
    parser.add_argument(
        "--share-import", metavar="ADDRESS", help="where an oracle may wait to be forked, see kbx.one_import"
    )
    options = parser.parse_args()
    _clean_environment()
    if options.share_import:
        one_import.fork_from_here(options.share_import, lambda: _serve(options))
    _serve(options)


def _serve(options):
    """Is the zygote until the referee is gone."""
    referee_in, referee_out = _private_descriptors()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the referee's to handle; its end of file reaches us
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    cores.keep_off()
    if not options.share_import:
        bytecode.keep()
    gc.disable()  # what is imported stays: to look through it again and again takes a tenth of the time
    bench = importlib.import_module(options.bench)
    versions = _warm(bench)
    sys.dont_write_bytecode = True  # for runners: what is kept for the next start is what was imported up to here
    trees = {device: mounts.plan(device == "cuda", options.hide) for device in ("cpu", "cuda")}
    gc.freeze()
    zygote = Zygote(referee_in, referee_out, bench, trees)
    lacks = toolkit.lacking(cuda=True)
    absent = kernel_packages.absent()
    zygote.send(Hello(PROTOCOL, "zygote", os.getpid(), versions, lacks=lacks, absent=absent))
    zygote.run()
    sys.stderr.flush()
    os._exit(0)  # nothing is left to end, and taking all that was imported apart takes torch a quarter of a second


if __name__ == "__main__":
    main()
