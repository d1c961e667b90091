"""``kbx-judge [FILE]``: what kbx finds about a kernel on development inputs. Without FILE it is solution.py.

Exit code: 0 the kernel is correct, 1 it is not, 2 it was not judged.
"""

import http.client
import sys

ADDRESS = ("127.0.0.1", 8080)
SECONDS = 3600
"""A judgement waits for its turn on the device."""


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "solution.py"
    try:
        with open(path, "rb") as file:
            code = file.read()
        connection = http.client.HTTPConnection(*ADDRESS, timeout=SECONDS)
        connection.request("POST", "/kbx/judge", code)
        answer = connection.getresponse()
        print(answer.read().decode(errors="replace"))
    except OSError as error:
        print(f"kbx-judge: {error}", file=sys.stderr)
        return 2
    if answer.status != 200:
        return 2
    return 0 if answer.getheader("X-Kbx-Correct") == "true" else 1


if __name__ == "__main__":
    sys.exit(main())
