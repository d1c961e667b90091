"""Makes Triton's objects of what ``kbx.runner.kernels`` describes, with the text of functions taken from the candidate's file.

Of the candidate's Python nothing runs here but what Triton itself calls while it compiles: ``constexpr_function``s, constructors of
aggregates, operators of constants. Default values and annotations come from the description, decorators are not applied. A
description that makes no sense raises an error, which is the candidate's.
"""

from __future__ import annotations

import ast
import base64
import collections
import copy
import dataclasses
import enum
import hashlib
import importlib
import json
import linecache
import types
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy
import torch
from triton.compiler.compiler import ASTSource
from triton.language import core
from triton.runtime import jit

from kbx.executor.definitions import Definition, definitions_of, is_installed, lines_of

Entry: TypeAlias = "dict[str, Any]"
MODULE = "candidate"
"""What the candidate's module is called, in kernels' names too."""


class NotRebuilt(Exception):
    """A description names what is not there."""


class Undescribed(BaseException):
    """A kernel uses an object that has no description. No ``Exception``, so that Triton does not make a compile error of it."""


def rebuild(description: Entry, candidate_source: str, path: str) -> ASTSource:
    """The source that Triton compiles. ``path``: the candidate's file, whose text is ``candidate_source``.

    Raises NotRebuilt, or what Triton's constructors raise.
    """
    return _Rebuilding(description, candidate_source, path).source()


def digest(description: Entry, candidate_source: str) -> str:
    """Equal for kernels that compile to the same."""
    return hashlib.sha256(json.dumps([candidate_source, description]).encode()).hexdigest()


def runs_candidate(description: Entry) -> bool:
    """Whether compiling may run Python of the candidate's, or of packages that have nothing to do with kernels."""
    return any(entry["kind"] in _PYTHON or _library(entry) not in _HARMLESS for entry in description["objects"])


def is_own(description: Entry) -> bool:
    """Whether a kernel stands in the candidate's file, or in one that it has written, and in no package."""
    file = description["objects"][description["function"]].get("file")
    return file is not None and not is_installed(file)


_PYTHON = frozenset(("class", "function", "builtin", "constexpr function", "method", "instance", "aggregate", "member"))
_HARMLESS = frozenset((None, "triton", "math", "torch", "numpy"))


def _library(entry: Entry) -> str | None:
    """The package that an entry takes a module or an object of."""
    name = {"module": "name", "attribute": "module"}.get(entry["kind"])
    return None if name is None else str(entry[name]).partition(".")[0]


class _Unknown:
    """Stands for an object without description."""

    def __init__(self, text: str, allowed: bool) -> None:
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "_allowed", allowed)

    def __getattribute__(self, name: str) -> object:
        if name == "__module__":  # asked of every name before a kernel is read
            return ""
        if name == "__class__":
            return _Unknown
        if name.startswith("__triton") and not object.__getattribute__(self, "_allowed"):
            raise AttributeError(name)  # with which Triton refuses the name
        raise Undescribed(object.__getattribute__(self, "_text"))

    def _use(self, *_: object, **__: object) -> bool:
        raise Undescribed(object.__getattribute__(self, "_text"))

    __bool__ = __call__ = __len__ = __iter__ = __getitem__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = (
        __rsub__
    ) = _use
    __lt__ = __gt__ = __le__ = __ge__ = __index__ = __int__ = __float__ = _use
    __eq__ = __ne__ = _use
    __hash__ = object.__hash__  # some versions of Triton ask all arguments for these two

    def __repr__(self) -> str:
        return "unknown"


class _Rebuilding:
    def __init__(self, description: Entry, text: str, path: str) -> None:
        self._description, self._text, self._path = description, text, path
        self._entries: list[Entry] = description["objects"]
        self._made: dict[int, Any] = {}
        self._later: list[tuple[dict[str, object], dict[str, int]]] = []
        self._makers: dict[str, Callable[[int, Entry], Any]] = {
            "plain": lambda _, entry: entry["value"],
            "float": lambda _, entry: float.fromhex(entry["hex"]),
            "bytes": lambda _, entry: base64.b64decode(entry["base64"]),
            "ellipsis": lambda _, __: ...,
            "torch": lambda _, entry: getattr(torch, entry["name"]),
            "numpy": self._numpy,
            "tuple": lambda _, entry: tuple(self._items(entry)),
            "size": lambda _, entry: torch.Size(self._items(entry)),
            "frozenset": lambda _, entry: frozenset(self._items(entry)),
            "slice": lambda _, entry: slice(*self._items(entry)),
            "range": lambda _, entry: range(*self._items(entry)),
            "list": self._list,
            "set": self._set,
            "dict": self._dict,
            "module": lambda _, entry: _import(entry["name"]),
            "attribute": self._attribute,
            "namespace": self._namespace,
            "made module": self._namespace,
            "constexpr": lambda _, entry: core.constexpr(self._object(entry["value"])),
            "kernel": self._kernel,
            "function": self._plain_function,
            "builtin": lambda _, entry: core.builtin(self._object(entry["function"])),
            "constexpr function": self._constexpr_function,
            "constexpr method": self._constexpr_method,
            "method": lambda _, entry: types.MethodType(self._object(entry["function"]), self._object(entry["self"])),
            "staticmethod": lambda _, entry: staticmethod(self._object(entry["function"])),
            "classmethod": lambda _, entry: classmethod(self._object(entry["function"])),
            "property": lambda _, entry: property(*self._items(entry)),
            "class": self._class,
            "aggregate": self._aggregate,
            "member": lambda _, entry: self._object(entry["class"])[entry["name"]],
            "instance": self._instance,
            "unknown": lambda _, entry: _Unknown(entry["text"], entry["allowed"]),
        }
        self._hash = digest(description, text)

    def source(self) -> ASTSource:
        for file in [file for file in linecache.cache if not is_installed(file)]:
            del linecache.cache[file]  # of the kernel before
        linecache.cache[self._path] = (len(self._text), None, lines_of(self._text), self._path)
        for file, text in self._description["files"].items():
            if file != self._path and not is_installed(file):
                linecache.cache[file] = (len(text), None, lines_of(text), file)
        function, signature, constants, attrs = (
            self._object(self._description[part]) for part in ("function", "signature", "constants", "attrs")
        )
        if not isinstance(function, jit.JITFunction):
            raise NotRebuilt("not a kernel")
        if (name := self._description["name"]) is not None:
            function._repr = lambda _: str(name)
        while self._later:
            scope, names = self._later.pop()
            scope.update({name: self._object(index) for name, index in names.items()})
        source = ASTSource(function, signature, constants, attrs)
        source.hash = lambda: self._hash  # Triton's asks constants for their text
        return source

    def _object(self, index: int) -> Any:
        if index not in self._made:
            entry = self._entries[index]
            made = self._makers[entry["kind"]](index, entry)
            self._made.setdefault(index, made)
        return self._made[index]

    # ------------------------------------------------------------ values

    def _items(self, entry: Entry) -> list[Any]:
        return [self._object(index) for index in entry["items"]]

    def _list(self, index: int, entry: Entry) -> list[object]:
        made: list[object] = []
        self._made[index] = made
        made += self._items(entry)
        return made

    def _set(self, index: int, entry: Entry) -> set[object]:
        return set(self._items(entry))

    def _dict(self, index: int, entry: Entry) -> dict[object, object]:
        made: dict[object, object] = {}
        self._made[index] = made
        made.update({self._object(key): self._object(value) for key, value in entry["items"]})
        return made

    def _numpy(self, index: int, entry: Entry) -> object:
        return numpy.frombuffer(base64.b64decode(entry["base64"]), numpy.dtype(entry["dtype"]))[0]

    def _attribute(self, index: int, entry: Entry) -> object:
        found: object = _import(entry["module"])
        for name in entry["path"].split("."):
            found = getattr(found, name)
        return found

    def _namespace(self, index: int, entry: Entry) -> object:
        made: Any = types.ModuleType(entry["name"]) if entry["kind"] == "made module" else types.SimpleNamespace()
        self._made[index] = made
        for name, value in entry["values"].items():
            setattr(made, name, self._object(value))
        return made

    # ------------------------------------------------------------ functions

    def _kernel(self, index: int, entry: Entry) -> object:
        function = self._function(entry, _stub)
        kernel = jit.JITFunction(
            function,
            do_not_specialize=entry["do_not_specialize"],
            do_not_specialize_on_alignment=entry["do_not_specialize_on_alignment"],
            noinline=entry["noinline"] or None,
        )
        return self._keyed(kernel, index)

    def _constexpr_function(self, index: int, entry: Entry) -> object:
        return self._keyed(jit.constexpr_function(self._object(entry["function"])), index)

    def _constexpr_method(self, index: int, entry: Entry) -> object:
        return jit.BoundConstexprFunction(self._object(entry["self"]), self._object(entry["function"]))

    def _keyed(self, function: Any, index: int) -> object:
        """With a key of its own: Triton would read all that the function uses to make one, and here nothing looks into a cache."""
        function.hash = hashlib.sha256(f"{self._hash} {index}".encode()).hexdigest()
        return function

    def _plain_function(self, index: int, entry: Entry) -> types.FunctionType:
        return self._function(entry, _undecorated)

    def _function(self, entry: Entry, kept: Callable[[Definition], ast.AST]) -> types.FunctionType:
        """A function without what decorates it; what its names mean is filled in when all objects are there."""
        file = entry["file"]
        definition = self._definition(entry)
        scope: dict[str, object] = {}
        self._later.append((scope, entry["names"]))
        made = types.FunctionType(_compiled(kept(definition), file), scope, entry["name"])
        own = file == self._path or not is_installed(file)
        made.__module__ = scope["__name__"] = MODULE if own else entry["module"]
        made.__qualname__ = definition.qualname
        made.__defaults__ = tuple(self._object(value) for value in entry["defaults"]) or None
        named = {name: self._object(value) for name, value in entry["named_defaults"].items()}
        made.__kwdefaults__ = named
        made.__annotations__ = dict(entry["annotations"])
        return made

    def _definition(self, entry: Entry) -> Definition:
        file, line, name = entry["file"], entry["line"], entry["name"]
        if file != self._path and not is_installed(file) and file not in self._description["files"]:
            raise NotRebuilt(f"the text of {file} is not told")
        text = self._text if file == self._path else "".join(linecache.getlines(file))
        found = definitions_of(text).find(line, name)
        if not 0 <= entry["index"] < len(found):
            place = "the candidate's file" if file == self._path else file
            raise NotRebuilt(f"{place} has no function {name} in line {line}")
        return found[entry["index"]]

    # ------------------------------------------------------------ classes and what they make

    def _class(self, index: int, entry: Entry) -> type:
        bases = tuple(self._object(base) for base in entry["bases"])
        made: Any
        if entry["form"] == "enum":
            made = self._enum(entry, bases)
        elif entry["form"] == "namedtuple":
            made = _namedtuple(entry["name"], entry["fields"])
            defaults = {name: self._object(value) for name, value in entry["defaults"].items()}
            made.__new__.__defaults__ = tuple(defaults.values()) or None
            made._field_defaults = defaults
        else:
            made = type(entry["name"], bases, {})
        self._made[index] = made
        made.__module__, made.__qualname__ = MODULE, entry["qualname"]
        if entry["form"] != "enum":
            made.__annotations__ = {name: self._object(value) for name, value in entry["annotations"]}
        for name, value in entry["values"].items():
            type.__setattr__(made, name, self._object(value))
        if entry["form"] == "dataclass":
            self._make_dataclass(made, entry)
        return made  # type: ignore[no-any-return]

    def _enum(self, entry: Entry, bases: tuple[type, ...]) -> object:
        members = enum.EnumMeta.__prepare__(entry["name"], bases)
        for name, value in entry["members"]:
            members[name] = self._object(value)
        return enum.EnumMeta(entry["name"], bases, members)

    def _make_dataclass(self, made: type, entry: Entry) -> None:
        for each in entry["fields"]:
            options = {name: each[name] for name in ("init", "repr", "compare", "kw_only")}
            options |= {name: self._object(each[name]) for name in ("default", "default_factory") if name in each}
            if each["name"] in made.__annotations__:
                setattr(made, each["name"], dataclasses.field(**options))
        dataclasses.dataclass(made, **entry["options"])

    def _aggregate(self, index: int, entry: Entry) -> object:
        aggregate = getattr(core, "_aggregate", None) or core.aggregate
        return aggregate(self._object(entry["class"]))

    def _instance(self, index: int, entry: Entry) -> object:
        kind = self._object(entry["class"])
        made = tuple.__new__(kind, self._items(entry)) if "items" in entry else object.__new__(kind)
        self._made[index] = made
        for name, value in entry["values"].items():
            object.__setattr__(made, name, self._object(value))
        return made


_namedtuple: Callable[[str, list[str]], Any] = collections.namedtuple  # mypy wants literals

# ---------------------------------------------------------------- installed modules, and code of definitions


def _import(name: str) -> types.ModuleType:
    """An installed module; none that a candidate has written."""
    module = importlib.import_module(name)
    file = getattr(module, "__file__", None)
    if file is not None and not is_installed(file):
        raise NotRebuilt(f"{name} is no installed module")
    return module


def _undecorated(definition: Definition) -> ast.AST:
    """The definition alone. A decorator that does nothing keeps the first line where it is."""
    node = definition.node
    arguments = _bare(node.args)
    if isinstance(node, ast.Lambda):
        return ast.copy_location(ast.Lambda(arguments, node.body), node)
    return _defining(node, arguments, node.body)


def _stub(definition: Definition) -> ast.AST:
    """A function of the same name and parameters in the same place: Triton reads the text, and runs nothing."""
    node = definition.node
    if isinstance(node, ast.Lambda):
        raise NotRebuilt("a lambda is no kernel")
    return _defining(node, _bare(node.args), [ast.copy_location(ast.Pass(), node)])


def _defining(node: ast.FunctionDef | ast.AsyncFunctionDef, arguments: ast.arguments, body: list[ast.stmt]) -> ast.AST:
    decorators: list[ast.expr] = [
        ast.copy_location(ast.Name("staticmethod", ast.Load()), each) for each in node.decorator_list[:1]
    ]
    made = copy.copy(node)
    made.args, made.body, made.decorator_list, made.returns = arguments, body, decorators, None
    if hasattr(made, "type_params"):
        made.type_params = []
    return made


def _bare(arguments: ast.arguments) -> ast.arguments:
    """Parameters without annotations and defaults."""

    def bare(argument: ast.arg | None) -> ast.arg | None:
        return None if argument is None else ast.copy_location(ast.arg(argument.arg, None), argument)

    def all_bare(some: list[ast.arg]) -> list[ast.arg]:
        return [ast.copy_location(ast.arg(each.arg, None), each) for each in some]

    return ast.arguments(
        posonlyargs=all_bare(arguments.posonlyargs),
        args=all_bare(arguments.args),
        vararg=bare(arguments.vararg),
        kwonlyargs=all_bare(arguments.kwonlyargs),
        kw_defaults=[None for _ in arguments.kwonlyargs],
        kwarg=bare(arguments.kwarg),
        defaults=[],
    )


def _compiled(node: ast.AST, file: str) -> types.CodeType:
    """The code of one function or lambda, which is compiled as if it stood alone: all names are the module's."""
    whole: Any
    if isinstance(node, ast.expr):
        whole = compile(ast.Expression(node), file, "eval", dont_inherit=True)
    else:
        assert isinstance(node, ast.stmt)
        whole = compile(ast.Module([node], []), file, "exec", dont_inherit=True)
    return next(each for each in whole.co_consts if isinstance(each, types.CodeType))
