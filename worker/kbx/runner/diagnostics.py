"""Errors of compilers about a candidate's C++, with lines of the candidate's own file.

A compiler sees files that torch writes from strings of the candidate. Their lines are found again in its source by the
text around them, so a string may be dedented, formatted or put together from several.
"""

import difflib
import os
import re
from typing import NamedTuple

_ERRORS = 5
_TEXT_CHARS = 300
_LAST_CHARS = 800
_LEAST_CHARS = 4
"""A shorter line, such as a brace, says nothing of where it stands in a longer one."""

_GCC = re.compile(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:\d+:)? (?:fatal |internal compiler )?error: (?P<text>.*)")
_EDG = re.compile(
    r"^(?P<file>[^\s(][^(]*)\((?P<line>\d+)\): (?:catastrophic |internal )?error(?: #[\w-]+)?: (?P<text>.*)"
)
_TOOL = re.compile(r"^(?P<tool>nvcc|ptxas|nvlink|cicc|cudafe\+\+|fatbinary)\b[^:]*?(?:error|fatal)\s*: (?P<text>.*)")
_LINKER = re.compile(r"(?P<text>(?:undefined reference to|multiple definition of|cannot find -l|undefined symbol: ).*)")
_VIA = (re.compile(r"^\s*(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:\d+:)?\s+required from"),
        re.compile(r" at line (?P<line>\d+) of (?P<file>\S+)"))  # fmt: skip
_NO_MEMORY = re.compile(r"out of memory|virtual memory exhausted|Cannot allocate memory|Killed|signal 9", re.IGNORECASE)


class Place(NamedTuple):
    """A line of the candidate's file."""

    line: int
    text: str


class _Error(NamedTuple):
    file: str | None
    line: int
    text: str


class Lines:
    """Maps lines of generated files to ``source``; ``generated`` are their texts by name."""

    def __init__(self, generated, source):
        self._source = source.splitlines()
        stripped = [line.strip() for line in self._source]
        self._texts = {name: text.splitlines() for name, text in generated.items()}
        self._found = {name: _aligned([line.strip() for line in text], stripped) for name, text in self._texts.items()}

    def place(self, file, line):
        """The line of ``source`` (from 1) that line ``line`` of ``file`` was made of, or None."""
        index = self._found.get(os.path.basename(file), {}).get(line - 1)
        return None if index is None else Place(index + 1, self._source[index].strip())

    def text(self, file, line):
        """That line of the generated file itself; empty if there is none."""
        lines = self._texts.get(os.path.basename(file), [])
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _aligned(generated, source):
    """Index in ``source`` by index in ``generated``, of lines that are the same but for their indentation."""
    found = {}
    for block in difflib.SequenceMatcher(None, generated, source, autojunk=False).get_matching_blocks():
        if any(len(line) >= _LEAST_CHARS for line in generated[block.a : block.a + block.size]):
            found.update((block.a + i, block.b + i) for i in range(block.size))
    # The first and last lines of a string are beside its quotes.
    for index, line in enumerate(generated):
        if index not in found and len(line) >= _LEAST_CHARS:
            beside = [found[index + step] - step for step in (1, -1) if index + step in found]
            holding = [at for at in beside or range(len(source)) if 0 <= at < len(source) and line in source[at]]
            if len(holding) == 1 or (beside and holding):
                found[index] = holding[0]
    return found


def lacks_memory(output):
    """Whether a compiler failed only for lack of memory."""
    return bool(_NO_MEMORY.search(output)) and not _errors(output.splitlines())


def explain(output, lines, name):
    """``(message, place)``: the first errors of compilers and linker, in terms of the candidate's file ``name``.

    ``place`` is that of the first error that has one, else None.
    """
    said = output.splitlines()
    errors = _errors(said)
    if not errors:
        rest = [line for line in said if line.strip() and not line.startswith(("ninja:", "["))]
        return "\n".join(rest)[-_LAST_CHARS:] or "the compiler failed without a message", None
    told, first = [], None
    for index, error in errors[:_ERRORS]:
        text, place = _told(error, index, said, lines, name)
        told.append(text)
        first = first or place
    if len(errors) > _ERRORS:
        told.append(f"and {len(errors) - _ERRORS} more")
    return "\n".join(told), first


def _errors(said):
    """``(index, error)`` of each error once: nvcc compiles the same source for the host and for each architecture."""
    found = {}
    for index, line in enumerate(said):
        if match := _GCC.match(line) or _EDG.match(line):
            error = _Error(match["file"], int(match["line"]), match["text"].strip())
        elif match := _TOOL.match(line):
            error = _Error(None, 0, f"{match['tool']}: {match['text'].strip()}")
        elif match := _LINKER.search(line):
            error = _Error(None, 0, match["text"].strip())
        else:
            continue
        if not error.text.startswith("ld returned"):
            found.setdefault(error, index)
    return [(index, error) for error, index in found.items()]


_MISSING_HEADER = re.compile(
    r"^(?P<gcc>[\w./+-]+): No such file or directory|(?:cannot|could not) open source file \"(?P<edg>[^\"]+)\""
)
_LIBRARIES = {"kittens": "ThunderKittens", "cutlass": "CUTLASS", "cute": "CUTLASS", "tl_templates": "TileLang"}
"""Libraries of headers that come with neither nvcc nor PyTorch, by what the header's path begins with."""


def _with_library(text):
    """The text of an error; where a header of a known library is missing, with the name of that."""
    match = _MISSING_HEADER.search(text)
    header = match[match.lastgroup] if match else ""
    library = _LIBRARIES.get(re.split(r"[/.]", header)[0])
    text = text[:_TEXT_CHARS]
    return f"{text}; it is a header of {library}, which comes with neither nvcc nor PyTorch" if library else text


def _told(error, index, said, lines, name):
    text = _with_library(error.text)
    if error.file is None:
        return f"error: {text}", None
    place = lines.place(error.file, error.line)
    if place is not None:
        return f"{name}:{place.line}: error: {text}\n    {place.text[:_TEXT_CHARS]}", place
    via = _via(index, said, lines)
    where = f"{os.path.basename(error.file)}:{error.line}: error: {text}"
    if via is not None:
        return f"{name}:{via.line}: from here\n    {via.text[:_TEXT_CHARS]}\n{where}", via
    own = lines.text(error.file, error.line)[:_TEXT_CHARS]
    return f"{where}\n    {own}" if own else where, None


def _via(index, said, lines):
    """The candidate's line that led to an error in a header: g++ reports it before the error, nvcc after."""
    before, after = said[max(0, index - 40) : index][::-1], said[index + 1 : index + 40]
    for around in (before, after):
        for line in around:
            if _GCC.match(line) or _EDG.match(line):
                break
            for pattern in _VIA:
                match = pattern.search(line)
                if match and (place := lines.place(match["file"], int(match["line"]))) is not None:
                    return place
    return None
