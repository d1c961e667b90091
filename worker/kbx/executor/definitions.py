"""Functions in a Python file, found by where they begin: what a description names, and what is compiled of it."""

from __future__ import annotations

import ast
import functools
import io
import os
import sys
import tempfile
from dataclasses import dataclass, field

_TEMPORARY = os.path.realpath(tempfile.gettempdir())
ROOTS = tuple(
    root for root in dict.fromkeys(os.path.realpath(p) for p in sys.path if p) if root not in (_TEMPORARY, os.sep)
)
"""Folders of installed Python code, as they were before any candidate: nothing that a candidate can write lies in one."""

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@functools.lru_cache(maxsize=4096)
def is_installed(file: str) -> bool:
    """Whether a file belongs to the installed Python code."""
    place = os.path.realpath(file)
    return os.path.isabs(file) and any(place.startswith(root + os.sep) for root in ROOTS)


def lines_of(text: str) -> list[str]:
    """The lines of a file with their ends, as Python counts them."""
    return io.StringIO(text, newline=None).readlines()


@dataclass(frozen=True)
class Definition:
    """A function or lambda, its qualified name, and whether the file postpones annotations."""

    node: Function
    qualname: str

    def names(self) -> set[str]:
        """Names that it uses anywhere, those of its annotations and defaults included, those of its decorators not."""
        parts: list[ast.AST] = [self.node.args]
        if isinstance(self.node, ast.Lambda):
            parts.append(self.node.body)
        else:
            parts += [*self.node.body, *([self.node.returns] if self.node.returns else [])]
        return {each.id for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)}


@dataclass
class Definitions:
    """All functions of a file by first line, decorators included, and name. Raises SyntaxError for a file that is not Python."""

    text: str
    _found: dict[tuple[int, str], list[Definition]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._look(ast.parse(self.text), "")

    def find(self, line: int, name: str) -> list[Definition]:
        """Those that begin in this line with this name: several lambdas may."""
        return self._found.get((line, name), [])

    def _look(self, node: ast.AST, outer: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                name = "<lambda>" if isinstance(child, ast.Lambda) else child.name
                line = child.lineno
                if not isinstance(child, ast.Lambda) and child.decorator_list:
                    line = child.decorator_list[0].lineno
                self._found.setdefault((line, name), []).append(Definition(child, outer + name))
                self._look(child, f"{outer}{name}.<locals>.")
            elif isinstance(child, ast.ClassDef):
                self._look(child, f"{outer}{child.name}.")
            else:
                self._look(child, outer)


@functools.lru_cache(maxsize=64)
def definitions_of(text: str) -> Definitions:
    return Definitions(text)
