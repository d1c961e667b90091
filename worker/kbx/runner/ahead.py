"""Compiles what a candidate launches before it gets a device: its entry is called on shapes, and no kernel runs.

Triton's cache and libraries made from C++ (see ``kbx.runner.extensions``) are then sent to the runner with the device, which finds
cache hits. This only saves time: what fails here is compiled again in that runner and judged there. A wrong binary can only harm
its own candidate, as its results are judged like any others.
"""

import base64
import contextlib
import os
import signal
import tempfile
import time
import zlib
from collections import Counter
from pathlib import Path

import torch

from kbx import protocol, shapes, tensors
from kbx.executor.ahead import NICENESS
from kbx.runner import compilation, compilers, cuda_on_cpu, extensions, launches, tuning

REQUESTS_ROOM = 1 << 20
"""Characters of requests that are told."""
_ROOM = protocol.MAX_RUNNER_FRAME - REQUESTS_ROOM - (64 << 10)
"""Characters of base64 that fit in a frame, with what else it holds: some hundred configurations of a matrix product take 8 MiB."""
_LIBRARIES_ROOM = 4 << 20
"""The same for libraries, of which a candidate needs few."""
_ELSEWHERE = "{cache}"
"""Stands in packed files for the folder of the cache, which differs from runner to runner."""
_TEXTS = (".source", ".ttgir", ".llir", ".ptx")
"""What a kernel was on its way to a binary: most of the cache, and no cache hit looks at it."""
_CHOICES = ".autotune.json"
"""Which configuration won, where nothing was timed."""

_PROCESSES = 8
"""That compile a candidate's launches at a time, and among which its calls are split. A launch takes a compiler 0.1 to 0.3 s, or
more than a second on a slow core."""
_MOST_REQUESTS = 32
"""Kernels that are compiled once more where the candidate is not."""
_LOOK_SECONDS = 0.002
_GRACE = 15.0
"""Seconds for the call that is being made when time is up; the referee waits a little longer."""


def compile_calls(entry, calls, seconds, collection=None):
    """Calls ``entry`` on the shapes of each of ``calls`` (``{"args", "kwargs", "timed"}``), for at most ``seconds``; returns whether it
    completed all. Autotuning compiles every configuration in those to be ``timed``, one in each of the others. ``collection`` gets the requests
    for what the calls launch where they are not timed, as a benchmark size's are as well.
    """
    launches.only_compile()
    cuda_on_cpu.leave_empty()
    end = time.monotonic() + seconds
    common = compilers.Compilers(processes(), collection)
    # Not in this process: a crash of the candidate would lose what others have compiled.
    children = [_child(entry, share, tune, end, common) for share, tune in _shares(calls, processes())]
    for child in children:
        _wait(child, end)
    common.settle(end)
    return all([_reap(child) for child in children])


def processes():
    """How many compile at a time."""
    return min(_PROCESSES, len(os.sched_getaffinity(0)))


def collect_requests(path, source):
    """A collection, which from now on gets the requests for what is compiled here and in processes forked from this one; a candidate's are of the
    file at ``path`` that holds ``source``."""
    collection = compilation.Collection(Path(tempfile.mkdtemp(prefix="kbx-requests-")))
    collection.begin(path, source)
    return collection


def requests(collection):
    """Those of a collection, for ``kbx.executor.ahead``, as JSON, as many as there is room for: the first one of each kernel, then the second of
    each, and so on, so that no kernel's variants crowd out other kernels."""
    files = sorted(collection.folder.iterdir(), key=lambda file: (file.stat().st_mtime_ns, file.name))
    found, room = [], REQUESTS_ROOM
    for file in _in_turn(files)[:_MOST_REQUESTS]:
        if (room := room - len(text := file.read_text(encoding="utf-8"))) < 0:
            break
        found.append(text)
    return found


def _in_turn(files):
    """Files of the kernels in turn; those of one, as those of one turn, in the order given."""
    seen, turns = Counter(), []
    for file in files:
        kernel = file.name.partition("-")[0]
        turns.append((seen[kernel], file))
        seen[kernel] += 1
    return [file for _, file in sorted(turns, key=lambda turn: turn[0])]


def _shares(calls, most):
    """The calls in at most so many parts of each kind, with what autotuning does in them: those of benchmark sizes are timed, and made without being
    timed as all others are. An autotuner may keep its choice from one kind to the other, so no process makes both."""
    timed = [call for call in calls if call.get("timed", False)]
    for wanted, tune in ((timed, tuning.take_every), (calls, tuning.take_one)):
        shares = min(most, len(wanted))
        yield from ((wanted[share::shares], tune) for share in range(shares))


def _child(entry, calls, tune, end, common):
    """Forks a process that makes a part of the calls; what they launch is compiled by ``common`` into the common cache."""
    pid = os.fork()
    if pid:
        # Also set here: the child may hang before it does so.
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        return pid
    whole = False
    try:
        os.setpgid(0, 0)
        os.nice(NICENESS)
        tune()
        if tune is tuning.take_every:
            common.only_compile()  # the fastest configuration is timed, and others are called
        whole = _compile(entry, calls, end, common)
    finally:
        os._exit(0 if whole else 1)


def _wait(child, end):
    """Waits until a child has ended; one forked beside a thread of the candidate may hang."""
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > end + _GRACE:
            _kill(child)
        time.sleep(_LOOK_SECONDS)


def _reap(child):
    """Whether a child that has ended completed its part. Processes that it started end with it."""
    _kill(child)  # Its process id is not reused until it is waited for.
    return os.waitpid(child, 0)[1] == 0


def _kill(child):
    """Kills a child and its process group, which it may have left."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _compile(entry, calls, end, common):
    common.begin(end)
    failed = []
    made = all(time.monotonic() < end and _made(entry, call, failed) for call in calls)
    whole = common.finish() and made
    # A call may have looked at a kernel that was not there yet.
    return all(time.monotonic() < end and _made(entry, call, []) for call in failed) and whole


def _made(entry, call, failed):
    """Makes a call; puts one that fails, on zeros or on results that no kernel wrote, into ``failed``."""
    try:
        with shapes.Shapes():
            args = [tensors.decode(tree, _blank) for tree in call["args"]]
            kwargs = {name: tensors.decode(tree, _blank) for name, tree in call["kwargs"].items()}
            entry(*args, **kwargs)
    except Exception:
        failed.append(call)
    return True


def _blank(leaf):
    """A tensor of zeros; a large one is uninitialized."""
    shape, stride, dtype = leaf["shape"], leaf["stride"], tensors.DTYPES[leaf["dtype"]]
    room = tensors.span(shape, stride)
    if room > shapes.SMALL:
        return shapes.blank(shape, stride, dtype)
    return torch.frombuffer(bytearray(max(1, room) * dtype.itemsize), dtype=dtype).as_strided(shape, stride)


def kernels():
    """Number of compiled kernels."""
    return sum(1 for _ in _folders()["triton"].rglob("*.cubin"))


def pack(source):
    """Libraries and what of Triton's cache another runner of ``source`` needs, by path, compressed, in base64, within the size
    limit: all libraries or none, and as many kernels as fit. Also returns which of ``libraries`` and ``triton`` is incomplete.
    """
    packed, left_out, room = {}, [], _ROOM
    folders = _folders()
    for kind, units, most in (
        ("libraries", [folders["libraries"]], _LIBRARIES_ROOM), ("triton", _entries(folders["triton"]), _ROOM),
    ):  # fmt: skip
        found = [_packed_files(kind, folders[kind], unit, source) for unit in units]
        for files in sorted(found, key=_size):
            if _size(files) < min(room, most):
                packed |= files
                room -= _size(files)
            elif kind not in left_out:
                left_out.append(kind)
    return packed, left_out


def _entries(cache):
    """The folders of the cache; each contains one kernel or launcher."""
    return sorted(cache.iterdir()) if cache.is_dir() else []


def _packed_files(kind, folder, unit, source):
    paths = [p for p in sorted(unit.rglob("*")) if p.is_file() and (kind != "triton" or _travels(p, source))]
    return {f"{kind}/{p.relative_to(folder)}": _packed(_moved(p, p.read_bytes(), folder, _ELSEWHERE)) for p in paths}


def _travels(path, source):
    # Texts are read as attributes of a kernel's ``asm``, and only by who names it; kbx itself reads the Triton IR of what has failed.
    return not path.name.endswith(_CHOICES) and (path.suffix not in _TEXTS or "asm" in source)


def _size(files):
    return sum(len(name) + len(text) for name, text in files.items())


def unpack(files):
    """Unpacks the result of ``pack`` into the folders of libraries and Triton's cache."""
    folders = _folders()
    for name, text in files.items():
        kind, _, rest = name.partition("/")
        path = folders[kind] / rest
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_moved(path, zlib.decompress(base64.b64decode(text)), _ELSEWHERE, folders[kind]))


def _packed(content):
    return base64.b64encode(zlib.compress(content)).decode()


def _moved(path, content, here, there):
    """Adapts Triton's list of a kernel's files, which has absolute paths."""
    return content.replace(str(here).encode(), str(there).encode()) if path.suffix == ".json" else content


def _folders():
    """Folders of compiled files; libraries first, as calls need them."""
    return {"libraries": extensions.folder(), "triton": Path(os.environ["TRITON_CACHE_DIR"])}
