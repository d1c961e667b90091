"""Writes single-file candidates: an adapter of ours with all that it imports of a library copied into it.

Definitions are copied whole, in an order in which each finds what it needs. Names that a file of ``shims`` defines take the place of
the library's own: what looks up configurations, devices or generated modules cannot be copied.
"""

import ast
import symtable
from pathlib import Path

_LAZY_ANNOTATIONS = "from __future__ import annotations"


class CannotInline(Exception):
    """What an adapter needs cannot be copied; the message says why."""


class _File:
    """The top-level statements of a Python file by the names that they bind."""

    def __init__(self, path):
        self.text = path.read_text(encoding="utf-8")
        self.body = ast.parse(self.text).body
        self.lazy = any(isinstance(s, ast.ImportFrom) and s.module == "__future__" for s in self.body)
        self.bound = {}
        for statement in self.body:
            for name in _binds(statement):
                self.bound.setdefault(name, []).append(statement)

    def source(self, statement):
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
        return "\n".join(self.text.split("\n")[first - 1 : statement.end_lineno])


def _binds(statement):
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
    return [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)] + [
        name
        for inner in ast.iter_child_nodes(statement)
        if isinstance(inner, (ast.stmt, ast.ExceptHandler))
        for name in (_binds(inner) if isinstance(inner, ast.stmt) else [n for s in inner.body for n in _binds(s)])
    ]


def _uses(statement, text):
    """Names that a statement may look up in its module, in order."""
    tables = [symtable.symtable(text, "", "exec")]
    found = {symbol.get_name() for symbol in tables[0].get_symbols()}
    for table in tables:
        tables += table.get_children()
        found |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return [
        name for name in dict.fromkeys(n.id for n in ast.walk(statement) if isinstance(n, ast.Name)) if name in found
    ]


class Inliner:
    """Puts one candidate together. ``root``: the folder of a library's package, named ``library``; ``shims``: a file."""

    def __init__(self, library, root, shims):
        self._library, self._root = library, root
        self._shims, self._files = _File(shims), {}

    def candidate(self, adapter):
        """The text of a candidate."""
        self._written, self._lines, self._origin, self._lazy = set(), [], {}, False
        file = _File(adapter)
        for statement in file.body:
            if isinstance(statement, ast.ImportFrom) and self._own(statement, None):
                for alias in statement.names:
                    self._import(statement, None, alias)
            elif isinstance(statement, (ast.Import, ast.ImportFrom)):
                self._write(file.source(statement))
        self._write(*(file.source(s) for s in file.body if not isinstance(s, (ast.Import, ast.ImportFrom))))
        lazy = [_LAZY_ANNOTATIONS] if self._lazy else []
        return "\n\n".join(lazy + self._lines) + "\n"

    def _write(self, *texts):
        self._lines += [text for text in texts if text not in self._lines]

    def _own(self, statement, module):
        """The module of the library that a ``from`` statement in ``module`` means, or None for another package's."""
        name = statement.module or ""
        if statement.level:
            parts = module.split(".")[: -statement.level] + ([name] if name else [])
            return ".".join(parts)
        return name if name.partition(".")[0] == self._library else None

    def _import(self, statement, module, alias):
        name, local = alias.name, alias.asname or alias.name
        source = self._own(statement, module)
        self._define(self._shims if name in self._shims.bound else self._file(source, name), source, name)
        if local != name:
            self._write(f"{local} = {name}")

    def _file(self, module, name):
        if module not in self._files:
            path = self._root.parent / Path(*module.split("."))
            path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            if not path.is_file():
                raise CannotInline(f"{module}.{name}: there is no {path}")
            self._files[module] = _File(path)
        return self._files[module]

    def _define(self, file, module, name):
        if name in self._shims.bound:
            file, module = self._shims, "shims"
        if (module, name) in self._written:
            return
        self._written.add((module, name))
        self._lazy |= file.lazy
        statements = file.bound.get(name)
        if not statements:
            raise CannotInline(f"{module} does not define {name}")
        for statement in statements:
            if isinstance(statement, ast.ImportFrom) and module != "shims" and self._own(statement, module):
                for alias in statement.names:
                    if (alias.asname or alias.name) == name:
                        self._import(statement, module, alias)
                continue
            text = file.source(statement)
            other, known = self._origin.setdefault((name, statements.index(statement)), (module, text))
            if known != text and not isinstance(statement, (ast.Import, ast.ImportFrom)):
                raise CannotInline(f"{name} is defined by {other} and by {module}")
            for used in _uses(statement, text):
                if used in file.bound and used != name:
                    self._define(file, module, used)
            self._write(text)
