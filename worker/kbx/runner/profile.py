"""Profiles a candidate: Nsight Compute runs one call of its entry in a process below this one.

Nsight Compute cannot look into a process that was forked, so ``kbx.runner.profiled`` is started afresh, in the same sandbox.
Nothing of the candidate is loaded in this process. Whatever goes wrong is a line of text and no figures.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from kbx.runner import ahead, ncu, profiled

_JOB, _LOG, _OUTPUT = "profile.json", "profile.log", "profile.out"
_MOST_LOG, _MOST_OUTPUT = 1 << 20, 8 << 10
_SOURCE = "candidate.py"
_ALONE = "ncu cannot connect to the process that it profiles: on this machine runners have no loopback device of their own; see network and files in kbx doctor"


def run(request, spawn):
    """``(kernels, failure)`` of a ``messages.runner.Profile``, one of them None. The working folder must be a scratch folder."""
    program = ncu.find()
    if program is None:
        return None, "Nsight Compute (ncu) is not installed: not on the PATH, in /usr/local/cuda or in /opt/nvidia"
    if not _reaches_itself():
        return None, _ALONE
    _lay_out(request, spawn)
    child = [sys.executable, "-I", profiled.__file__, _JOB]
    try:
        code = _run(ncu.command(program, _LOG, child), request.seconds)
    except OSError as error:
        return None, f"{program} does not start: {error.strerror}"
    if code is None:
        return None, f"ncu took longer than {request.seconds:.0f} s; {_last_word()}"
    log = _read(_LOG, 0, _MOST_LOG)
    found = ncu.kernels(log)
    return (found, None) if found else (None, ncu.complaint(log, _output(), code))


def _lay_out(request, spawn):
    """What the program finds in its working folder: source, job, and what was compiled ahead."""
    ahead.unpack(request.files)
    Path(_SOURCE).write_text(request.source, encoding="utf-8")
    job = {"modules": sys.path, "device": spawn.device, "arch": spawn.arch, "source": os.path.abspath(_SOURCE)}
    Path(_JOB).write_text(json.dumps(job | {"entries": request.entries, "call": request.call}))


def _run(command, seconds):
    """The exit code; None where it took too long and was ended, with all that it started."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "LC_ALL": "C"}
    with open(_OUTPUT, "wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _last_word():
    lines = [line.strip() for line in (_read(_LOG, 0, _MOST_LOG) + "\n" + _output()).splitlines() if line.strip()]
    return f"the last line that it printed is: {lines[-1][:200]}" if lines else "it printed nothing"


def _reaches_itself():
    """Whether a process here may connect to another: without, ncu waits for its program until it is ended."""
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as connecting:
        try:
            listening.bind("")  # the kernel finds a name that no file has
            listening.listen()
            connecting.connect(listening.getsockname())
            return True
        except OSError:
            return False


def _output():
    """The end of what program and profiler printed."""
    with contextlib.suppress(OSError):
        return _read(_OUTPUT, max(0, os.path.getsize(_OUTPUT) - _MOST_OUTPUT), _MOST_OUTPUT)
    return ""


def _read(name, start, most):
    with contextlib.suppress(OSError), open(name, "rb") as file:
        file.seek(start)
        return file.read(most).decode(errors="replace")
    return ""
