"""Process trees as seen from the zygote: what they hold in memory, how long they waited for a processor, and how to end them."""

import contextlib
import os
import signal


def children(pid):
    """Process ids of the children of all threads of ``pid``; none for a process that is gone."""
    found = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                found += map(int, file.read().split())
    return found


def resident(pid):
    """Bytes that one process has in RAM for itself, with its page tables, and bytes of shared memory; 0 when it is gone.

    Pages of files are left out: the kernel takes them back when it needs them.
    """
    own = shared = 0
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith(("RssAnon:", "VmPTE:")):
                own += int(line.split()[1]) << 10
            elif line.startswith("RssShmem:"):
                shared = int(line.split()[1]) << 10
    return own, shared


def descendants(root, besides=()):
    """Process ids below ``root``, except those of ``besides`` and what is below them."""
    found, queue = [], [root]
    while queue:
        below = [pid for pid in children(queue.pop()) if pid not in besides]
        found += below
        queue += below
    return found


def resident_below(root, inherited):
    """What all descendants of ``root`` hold for themselves, less the ``inherited`` bytes that each has of the zygote's, and what each of them
    has of shared memory."""
    held = [resident(pid) for pid in descendants(root)]
    return sum(max(0, own - inherited) for own, _ in held), [shared for _, shared in held]


def waited_below(root):
    """Seconds that ``root`` or a process below it was ready to run and had no processor: the longest of all threads, since each began.

    Not the sum: threads that wait beside each other delay the result once. 0 where the kernel does not count it.
    """
    return max(map(_waited, [root, *descendants(root)]))


def _waited(pid):
    longest = 0
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            # Nanoseconds on a processor, nanoseconds ready and without one, turns: Linux's Documentation/scheduler/sched-stats.rst.
            with open(f"/proc/{pid}/task/{task}/schedstat") as file:
                longest = max(longest, int(file.read().split()[1]))
    return longest / 1e9


def end_tree(monitor, init, others):
    """Kills a runner's monitor, init and every descendant; returns whether all are gone and reaped.

    Does not wait: a process that hangs in a device's driver dies late, so call again while the answer is False.
    With a pid namespace the death of ``init`` is all it takes. Without one its orphans become children of this process,
    a child subreaper, which tells them from the monitors of ``others``.
    """
    # The monitor, which never enters a driver, dies at once and leaves init to this process: only its own children,
    # not reaped yet, are signalled by it, so that a process id is never one that was given out again.
    _end_now(monitor)
    gone = init is None or _reaped(init)
    me, stopped = os.getpid(), set()
    # Stopped before any is killed: what is stopped cannot fork, so that even a fork bomb comes to an end.
    while fresh := set(descendants(me, others)) - stopped:
        for pid in fresh:
            _signal(pid, signal.SIGSTOP)
        stopped |= fresh
    for pid in stopped:
        _signal(pid, signal.SIGKILL)
    for pid in children(me):
        if pid not in others:
            _reaped(pid)
    return gone and not stopped  # what was just killed leaves its own children to this process


def _signal(pid, number):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _end_now(pid):
    """Kills a child and waits for it."""
    with contextlib.suppress(ChildProcessError):
        if os.waitpid(pid, os.WNOHANG)[0] == 0:
            _signal(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _reaped(pid):
    """Kills a child without waiting; whether it is gone."""
    try:
        if os.waitpid(pid, os.WNOHANG)[0] == 0:
            _signal(pid, signal.SIGKILL)
            return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        pass
    return True
