"""What a user's file defines: the reference under its name, whatever it was made with, and what makes its arguments."""

from __future__ import annotations

import ast
import functools
import inspect
import types
from typing import Any, cast

from torch import nn

from kbx.oracle.task import InvalidTask, shares
from kbx.suite import Call, Inputs, notation
from kbx.suite.values import articled

INPUTS = ("inputs", "get_inputs")
"""Functions that return the arguments, the first that there is."""
GENERATOR = "generate_input"
"""One that makes the only argument of a given size, as kernelbot's references have it."""


def function(names: dict[str, Any], source: str, entry: str, path: str) -> types.FunctionType:
    """The reference as a function whose line is where the file defines it, be it a partial, a decorated or another callable."""
    found, line = names.get(entry), line_of(source, entry)
    if isinstance(found, nn.Module):
        text = f"{entry} is a module, whose weights no candidate would have: make it a class Model with get_inputs()"
        raise InvalidTask(text, path, line)
    if not callable(found) or isinstance(found, type):
        raise InvalidTask(f"defines no function {entry}()", path, line)
    if isinstance(found, types.FunctionType) and found.__code__.co_filename == path and found.__name__ == entry:
        return found

    @functools.wraps(found)
    def called(*args: Any, **kwargs: Any) -> Any:
        return found(*args, **kwargs)

    made = cast("types.FunctionType", called)
    try:
        inspect.signature(found)
    except ValueError:  # PyTorch's own, of which Python knows no parameters
        del made.__wrapped__  # type: ignore[attr-defined]
    made.__name__ = entry
    made.__code__ = made.__code__.replace(co_firstlineno=line or 1)
    return made


def line_of(source: str, name: str) -> int | None:
    """The line, decorators included, of the last statement at the top of a file that defines a name."""
    found = None
    for statement in ast.parse(source).body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name == name:
            found = min([statement.lineno, *(each.lineno for each in statement.decorator_list)])
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and name in _assigned(statement):
            found = statement.lineno
    return found


def _assigned(statement: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def inputs(names: dict[str, Any], source: str, path: str) -> types.FunctionType | None:
    """The function that returns the arguments; None where the file has none. Raises InvalidTask where one needs to be told sizes."""
    for name in INPUTS:
        found = names.get(name)
        if isinstance(found, types.FunctionType):
            return found
        if found is not None:
            text = f"{name} is {articled(type(found).__name__)}: make it a function that returns the arguments, so that each call has fresh values"
            raise InvalidTask(text, path, line_of(source, name))
    generator = names.get(GENERATOR)
    return _generated(generator, source, path) if isinstance(generator, types.FunctionType) else None


def _generated(generator: types.FunctionType, source: str, path: str) -> types.FunctionType:
    """``inputs()`` of a function that is called with each of the sizes that comments above it tell."""
    line = line_of(source, GENERATOR)
    sizes = noted(source, path, line or 1, sizes=True) or [Call()]
    for each in sizes:
        try:
            inspect.signature(generator).bind(*each.args, **each.kwargs)
        except TypeError:
            parameters = list(inspect.signature(generator).parameters)
            example = ", ".join(f"{name}=64" for name in parameters)
            text = f"{GENERATOR}({', '.join(parameters)}) needs values: put a comment above it for each call, such as '# inputs: {example}'"
            raise InvalidTask(text, path, line) from None

    def inputs() -> list[Any]:
        return [generator(*each.args, **each.kwargs) for each in sizes]

    inputs.__code__ = inputs.__code__.replace(co_firstlineno=line or 1)
    return cast("types.FunctionType", inputs)


def noted(source: str, path: str, line: int, sizes: bool = False) -> list[Any]:
    """What comments above a line describe: calls, or with ``sizes`` plain arguments."""
    return [_parsed(path, *comment, sizes) for comment in notation.above(source, line)]


def _parsed(path: str, line: int, text: str, sizes: bool) -> Any:
    try:
        made = notation.parse(text)
        return made(Inputs()) if sizes else made
    except ValueError as error:
        raise InvalidTask(f"'# inputs:' {error}", path, line) from None


def noted_shares(source: str, path: str, line: int, calls: int) -> tuple[float, ...]:
    """What a comment above a line says of the time of the calls that are described there; empty where none does."""
    try:
        found = notation.weights(source, line)
        return shares(found, calls) if found else ()
    except ValueError as error:
        raise InvalidTask(f"'# weights:' {error}", path, line) from None
