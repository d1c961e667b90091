"""``python hiding.py [--hide PATH]... -- PROGRAM ARGUMENT...``: runs a program of the user's that is not to see kbx's secrets.

The program stays the user's own: its files, its network and its tools are there. It runs in namespaces of users, mounts and processes:
hidden folders are empty there, hidden files too, other processes are not to be seen, and no privilege brings them back.
"""

import argparse
import contextlib
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from kbx.runner import linux  # noqa: E402

_REFUSED = 97
_KEPT = "python-"
"""What kbx installed of Python in a hidden folder stays in sight: the program may run by it."""


def main():
    parser = argparse.ArgumentParser(prog="hiding", description=__doc__.splitlines()[0])
    parser.add_argument("--hide", action="append", default=[], metavar="PATH")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    try:
        _enter()
        for path in options.hide:
            _hide(path)
        os.chdir(os.getcwd())  # what was hidden is still in sight from within
    except OSError as error:
        print(f"hiding: {error}", file=sys.stderr)
        sys.exit(_REFUSED)
    sys.exit(_wait(lambda: _init(options.program)))


def _enter():
    uid, gid = os.geteuid(), os.getegid()
    linux.unshare(linux.CLONE_NEWUSER | linux.CLONE_NEWNS | linux.CLONE_NEWPID)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_PRIVATE)


def _hide(path):
    if not os.path.isdir(path):
        if os.path.exists(path):
            linux.mount(os.devnull, path, None, linux.MS_BIND)
        return
    kept = {
        entry.name: os.open(entry.path, os.O_PATH)
        for entry in os.scandir(path)
        if entry.name.startswith(_KEPT) and entry.is_dir()
    }
    linux.mount("tmpfs", path, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=700,size=1m")
    for name, fd in kept.items():
        inside = os.path.join(path, name)
        os.mkdir(inside)
        linux.mount(f"/proc/self/fd/{fd}", inside, None, linux.MS_BIND | linux.MS_REC)
        os.close(fd)


def _wait(child):
    """Runs ``child`` in a fork that dies with this process; its exit code, as a shell counts it."""
    pid = os.fork()
    if pid == 0:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        child()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # theirs to obey
    while True:
        done, status = os.wait()
        if done == pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _init(program):
    """Body of pid 1, whose end ends all that the program started."""
    with contextlib.suppress(OSError):  # refused where parts of /proc are covered, as in some containers
        linux.mount("proc", "/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
    code = _wait(lambda: _become(program))
    os._exit(code)


def _become(program):
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.drop_capabilities()
    try:
        os.execvp(program[0], program)
    except OSError as error:
        print(f"{program[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


if __name__ == "__main__":
    main()
