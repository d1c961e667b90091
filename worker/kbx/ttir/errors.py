"""Failures of parsing and executing Triton IR."""


class Unsupported(Exception):
    """Text or an operation that this package does not know. ``line`` is the line of the IR's text, from 1; 0 where there is none."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"{what} (line {line} of the Triton IR)" if line else what)
        self.line, self.what = line, what


class Stuck(Exception):
    """Programs that wait for each other, none of which can go on; ``place`` says where in the source."""

    def __init__(self, place: str) -> None:
        super().__init__(f"programs wait for ever at {place}")
        self.place = place
