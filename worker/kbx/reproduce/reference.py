"""The code of a task's reference, without the rest of its file and without kbx."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import pathlib
from dataclasses import dataclass, field

from kbx.oracle.backward import Backward, BackwardTask, is_differentiable
from kbx.oracle.backward_files import MARK, FunctionFileTask
from kbx.oracle.models import ModelTask
from kbx.oracle.module_backward import Differentiated
from kbx.oracle.own_references import OwnFunctionTask
from kbx.oracle.task import Task
from kbx.suite import Call
from kbx.suite.original import OriginalModel, OwnFunction
from kbx.suite.values import tensors

_OWN = "kbx"


class NotApart(Exception):
    """The reference cannot be taken out of its file."""


@dataclass(frozen=True)
class Reference:
    """``code`` defines ``name``. ``upstream``: of a task of gradients, how many results it has that can be differentiated."""

    code: str
    name: str
    upstream: int = 0
    init: str | None = None
    """Of a module, the expression of its arguments."""


def of(task: Task) -> Reference:
    """Raises NotApart."""
    original = getattr(task, "original", None)
    path = original.file if isinstance(original, (OriginalModel, OwnFunction)) else task.path
    if isinstance(task, ModelTask):
        upstream = task.derived.count if isinstance(task, Differentiated) else 0
        return Reference(code(path, ["Model"]), "Model", upstream, init=repr(list(task.init)))
    if isinstance(task, BackwardTask):
        name = task.code.__name__
        return Reference(code(path, [name]), name, task.count)
    if isinstance(task, OwnFunctionTask):
        return Reference(code(path, [task.code.__name__]), task.code.__name__)
    if isinstance(task, FunctionFileTask):
        name = inspect.unwrap(task.inputs).__globals__[MARK]
        return Reference(code(path, [name]), name, task.count)
    return Reference(code(path, [task.entry]), task.entry)


def differentiated(task: Task, call: Call) -> list[int]:
    """Of a task of gradients, the places of the tensors that a call asks for the gradients of, among those of the forward's arguments."""
    if isinstance(task, Differentiated):
        return list(task.derived.positions)
    if isinstance(task, BackwardTask):
        backward = task.backward
    elif isinstance(task, FunctionFileTask):
        backward = Backward(task.forward, task.by)
    else:
        return []
    own = Call(call.args[task.count :], call.kwargs)
    chosen, given = backward.chosen(own), tensors([*own.args, *own.kwargs.values()])
    return [place for place, t in enumerate(given) if id(t) in chosen and is_differentiable(t)]


def code(path: str, names: list[str]) -> str:
    """The statements at the top of a file that define ``names``, and those that these need; of kbx's own modules as well."""
    out = _Collected()
    out.take(pathlib.Path(path), names)
    return "\n\n".join(out.parts) + "\n"


@dataclass
class _Collected:
    parts: list[str] = field(default_factory=list)
    taken: set[tuple[str, str]] = field(default_factory=set)

    def take(self, path: pathlib.Path, names: list[str]) -> None:
        source = path.read_text(encoding="utf-8-sig")
        statements = _statements(ast.parse(source))
        wanted, chosen = list(names), set()
        while wanted:
            name = wanted.pop()
            if (str(path), name) in self.taken:
                continue
            self.taken.add((str(path), name))
            for statement in statements.get(name, []):
                if id(statement) in chosen or self._is_own(statement, path, name):
                    continue
                chosen.add(id(statement))
                wanted += sorted(_names(statement))
            if name not in statements and not hasattr(builtins, name) and name in names:
                raise NotApart(f"{path} defines no {name} at its top level")
        whole = {id(s): s for all_ in statements.values() for s in all_}
        kept = sorted((whole[i] for i in chosen), key=lambda s: s.lineno)
        self.parts += [_text(source, statement) for statement in kept]

    def _is_own(self, statement: ast.stmt, path: pathlib.Path, name: str) -> bool:
        """Whether a statement imports a name of kbx's or of a file beside ``path``; then its definition is taken in its place."""
        if not isinstance(statement, (ast.Import, ast.ImportFrom)):
            return False
        module = statement.module or "" if isinstance(statement, ast.ImportFrom) else ""
        beside = path.parent / (module.replace(".", "/") + ".py")
        of_kbx = module.split(".")[0] == _OWN
        if isinstance(statement, ast.Import):
            imported = next(each.name for each in statement.names if (each.asname or each.name.split(".")[0]) == name)
            if imported.split(".")[0] == _OWN or (path.parent / f"{imported.split('.')[0]}.py").exists():
                raise NotApart(f"{path}:{statement.lineno}: imports {imported} as a whole, which a script cannot hold")
            return False
        if not of_kbx and not (module and beside.exists()):
            return False
        alias = next(each for each in statement.names if (each.asname or each.name) == name)
        if of_kbx:
            defined = getattr(importlib.import_module(module), alias.name)
            place = inspect.getsourcefile(defined) if callable(defined) else None
            beside = pathlib.Path(place or str(importlib.import_module(module).__file__))
        self.take(beside, [alias.name])
        if alias.asname:
            self.parts.append(f"{alias.asname} = {alias.name}")
        return True


def _statements(tree: ast.Module) -> dict[str, list[ast.stmt]]:
    """The statements at the top by the names that they bind."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            continue
        for name in _bound(statement):
            found.setdefault(name, []).append(statement)
    return found


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    bound: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {each.asname or each.name.split(".")[0] for each in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
    return bound


def _names(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _text(source: str, statement: ast.stmt) -> str:
    first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", []))])
    return "\n".join(source.splitlines()[first - 1 : statement.end_lineno])
