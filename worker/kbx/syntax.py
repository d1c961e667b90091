"""Finds syntax errors of Python source, which is compiled and never run.

Reads requests from stdin, four bytes that say how long and then UTF-8, and answers each with a line: ``line column message``, columns
from 1, or an empty line for source that compiles or that no answer is known for. This is started for a file that somebody waits for,
so it imports little. Source that takes too long ends the process, which is the answer, too.
"""

import resource
import signal
import sys

OLDEST = (3, 10)
"""No Python before runs workers: what is wrong by its grammar need not be."""
LIMIT_S = 5.0
MEMORY = 2 << 30


def error(source: str) -> str:
    """The answer for a source, without the line break."""
    if "\0" in source:
        before = source[: source.index("\0")].split("\n")
        return f"{len(before)} {len(before[-1]) + 1} source code cannot contain null bytes"
    try:
        compile(source, "candidate", "exec", dont_inherit=True)
    except SyntaxError as wrong:
        return f"{wrong.lineno or 1} {max(1, wrong.offset or 1)} {' '.join(str(wrong.msg).split())}"
    except (ValueError, MemoryError, RecursionError, OverflowError):
        pass  # Too deep, or too large: Python may say otherwise where it is run.
    return ""


def main() -> None:
    if sys.version_info < OLDEST:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(flush=True)
    read = sys.stdin.buffer.read
    while len(length := read(4)) == 4:
        source = read(int.from_bytes(length, "big")).decode("utf-8", "replace")
        signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
        said = error(source)
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(said.encode("ascii", "backslashreplace").decode("ascii"), flush=True)


if __name__ == "__main__":
    main()
