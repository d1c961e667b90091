"""Tokens of one line of Triton IR. The printer ends a line with each operation, so that a line's number is an operation's."""

from __future__ import annotations

import re

from kbx.ttir.errors import Unsupported


def _nested(inside: str, opening: str, closing: str, depth: int) -> str:
    """A pattern for brackets within brackets, down to ``depth``."""
    pattern = f"{inside}*"
    for _ in range(depth):
        pattern = f"(?:{inside}|{opening}{pattern}{closing})*"
    return opening + pattern + closing


_STRING = r'"(?:[^"\\]|\\.)*"'
_ANGLES = _nested(r'(?:[^<>"{}]|' + _STRING + ")", "<", ">", 5)
_LOCATION = _nested(r'(?:[^()"]|' + _STRING + ")", r"\(", r"\)", 8)

TOKEN = re.compile(
    "|".join(
        (
            _STRING,
            r"%[A-Za-z0-9_$.\-]+(?:\#\d+)?",  # a value, or one of the results of an operation
            r"loc" + _LOCATION,
            r"(?:fastmath|overflow|array)" + _ANGLES,
            r"(?:tensor|![a-z]+\.\w+)?" + _ANGLES,  # a type, or what is left of one whose name goes without saying
            r"\^\w+",  # a block
            r'@"[^"]*"|@[\w.$\-]+',  # a function
            r"\#[\w.]+",  # an alias
            r"0x[0-9A-Fa-f]+|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?",
            r"[A-Za-z_][\w.$]*",
            r"<\{|\}>|->",
            r"//.*",
            r"\S",
        )
    )
)
_PUNCTUATION = frozenset("()[]{}<>,:=*?")


def tokens_of(text: str, line: int) -> list[str]:
    """The tokens of a line, without comments; raises Unsupported for a character that begins none."""
    found = TOKEN.findall(text)
    for token in found:
        if len(token) == 1 and token not in _PUNCTUATION and not (token.isalnum() or token == "_"):
            raise Unsupported(line, f"the text {text[text.index(token) :][:20]!r}")
    return [token for token in found if token[:2] != "//"] if "//" in text else found


def unquoted(token: str) -> str:
    """A string as it is meant: the printer writes bytes that are not printable as two hexadecimal digits."""
    if "\\" not in token:
        return token[1:-1]

    def plain(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code, 16)) if len(code) == 2 else _ESCAPES.get(code, code)

    return re.sub(r"\\([0-9A-Fa-f]{2}|.)", plain, token[1:-1])


_ESCAPES = {"n": "\n", "t": "\t"}
