"""``python -m kbx.reproduce``: JSON on stdin, the script on stdout; a reason why there is none on stderr, and exit status 1."""

from __future__ import annotations

import json
import sys

from kbx.oracle.task import InvalidTask, Unsupported
from kbx.reproduce.reference import NotApart
from kbx.reproduce.script import Failure, written


def main() -> None:
    # A candidate's name may be anything; what the referee prints is UTF-8.
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    failure = Failure(**json.load(sys.stdin))
    try:
        print(written(failure), end="")
    except InvalidTask as error:
        sys.exit(f"{error.file}: {error.message}")
    except (Unsupported, NotApart) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
