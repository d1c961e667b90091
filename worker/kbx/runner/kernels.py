"""Describes a kernel as plain data, so that a process that never runs the candidate's module can compile it.

``describe`` tells where the kernel's text stands and what the names in it mean. ``kbx.executor.rebuilding`` makes Triton's objects
of that, with the text taken from the candidate's file itself: what this process has put on its objects, ``kernel.src`` for
instance, or an operator of a class, is not looked at.

Objects are entries of a table, and named by their index in it, so that what is shared stays shared and functions may refer to
themselves. What has no entry is ``unknown``: compiling fails as ``Unsupported`` where the kernel uses it, and only there.
"""

import ast
import base64
import collections
import dataclasses
import enum
import functools
import linecache
import sys
import types

import numpy
import torch
import triton
from triton.language import core
from triton.runtime import jit

from kbx.executor.definitions import definitions_of, is_installed
from kbx.runner import gaps

try:
    from triton.experimental.gluon._runtime import GluonASTSource, GluonJITFunction
except ImportError:
    GluonASTSource = GluonJITFunction = None
try:
    import triton.language.extra.cuda.libdevice
    import triton.language.extra.libdevice  # noqa: F401
except ImportError:
    pass

_MOST_OBJECTS = 20_000
"""In one description: what a kernel means by its names has dozens. Those that are more are unknown."""
_MOST_ITEMS = 4096
"""Of a collection: a list with more is data of the candidate's, whose name a kernel uses for a variable."""

# Taken before any candidate is loaded, which may replace what it finds in these modules.
_vars_of_class = type.__dict__["__dict__"].__get__
_mro_of, _bases_of = type.__dict__["__mro__"].__get__, type.__dict__["__bases__"].__get__
_name_of, _qualname_of = type.__dict__["__name__"].__get__, type.__dict__["__qualname__"].__get__
_JITFunction, _ConstexprFunction = jit.JITFunction, getattr(jit, "ConstexprFunction", None)
_BoundConstexprFunction = getattr(jit, "BoundConstexprFunction", None)
_constexpr, _base_type = core.constexpr, core.base_type
_builtin_code = core.builtin(lambda: None).__code__
_library_classes = {object, tuple, int, float, str, core.base_value} | {
    vars(enum)[name] for name in ("Enum", "IntEnum", "Flag", "IntFlag", "StrEnum", "ReprEnum") if name in vars(enum)
}
_native = {
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType, numpy.ufunc,
}  # fmt: skip
_numbers = {kind for kind in numpy.sctypeDict.values() if kind not in (numpy.object_, numpy.void)}
_collections = {tuple: "tuple", list: "list", set: "set", frozenset: "frozenset", torch.Size: "size"}
_made_by_python = {
    "__dict__", "__weakref__", "__module__", "__doc__", "__qualname__", "__slots__", "__annotations__", "__annotate__",
    "__annotations_cache__", "__annotate_func__", "__match_args__", "__parameters__", "__orig_bases__", "__firstlineno__",
    "__static_attributes__", "_abc_impl", "__abstractmethods__", "__type_params__",
}  # fmt: skip
_made_by_dataclass = {"__dataclass_fields__", "__dataclass_params__", "__hash__"}


def _named_objects():
    """Objects of Triton and of Python's builtins by identity: where an installed process finds them."""
    found, kinds = {}, (type, types.FunctionType, _JITFunction, *_native)
    for module in [m for n, m in sorted(sys.modules.items()) if n.split(".")[0] in ("triton", "builtins")]:
        for name, value in list(vars(module).items()):
            if isinstance(value, kinds):
                home = getattr(value, "__module__", None)
                if id(value) not in found or home == module.__name__:
                    found[id(value)] = module.__name__, name, value
    return found


_named = _named_objects()

# Classes by identity: a metaclass of the candidate's may have an opinion of what is equal, and of hashes.
_scalar_ids = {id(kind) for kind in (bool, int, str, type(None))}
_collection_ids = {id(kind): name for kind, name in _collections.items()}
_number_ids, _native_ids, _library_ids = (
    {id(kind) for kind in kinds} for kinds in (_numbers, _native, _library_classes)
)


class _Indescribable(Exception):
    """Of an object there is no description."""


def describe(source, path, text):
    """An ``ASTSource`` as data for JSON. ``path``: the candidate's file; ``text``: what is in it.

    Raises Unsupported for Gluon.
    """
    if GluonASTSource is not None and _has_base(type(source), GluonASTSource):
        raise gaps.noted(gaps.Unsupported("gluon"))
    return _Description(path, text).of(source)


class _Description:
    def __init__(self, path, text):
        self._path, self._text = path, text
        self._objects, self._index, self._kept, self._files = [], {}, [], {}

    def of(self, source):
        function = source.fn
        if not _has_base(type(function), _JITFunction):
            raise gaps.noted(gaps.Unsupported(f"a kernel that is a {type(function).__name__}"))
        if GluonJITFunction is not None and _has_base(type(function), GluonJITFunction):
            raise gaps.noted(gaps.Unsupported("gluon"))
        parts = (function, dict(source.signature), dict(source.constants), dict(source.attrs))
        references = [self._refer(part, f"kernel {source.name}") for part in parts]
        return {
            "objects": self._objects,
            "files": self._files,
            "name": _name(function, source),
            **dict(zip(("function", "signature", "constants", "attrs"), references, strict=True)),
        }

    def _refer(self, value, where, name=None):
        """The index of an object in the table. ``where`` it is used, ``name``: under which name."""
        if (known := self._index.get(id(value))) is not None:
            return known
        index = self._index[id(value)] = len(self._objects)
        self._objects.append(None)
        self._kept.append(value)  # or its identity may be another's
        try:
            if index >= _MOST_OBJECTS:
                raise _Indescribable
            entry = self._entry(value, where)
        except Exception:  # also what a strange object raises when it is looked at
            what = f"the object {name}" if name else f"an object of type {_name_of(type(value))}"
            entry = {"kind": "unknown", "text": f"{what} in {where}", "allowed": _may_be_global(value)}
        self._objects[index] = entry
        return index

    def _entry(self, value, where):
        kind = type(value)
        if id(kind) in _scalar_ids:
            return {"kind": "plain", "value": value}
        if kind is float:
            return {"kind": "float", "hex": value.hex()}
        if kind is bytes:
            return {"kind": "bytes", "base64": base64.b64encode(value).decode()}
        if (id(kind) in _collection_ids or kind is dict) and len(value) > _MOST_ITEMS:
            raise _Indescribable
        if id(kind) in _collection_ids:
            return {"kind": _collection_ids[id(kind)], "items": [self._refer(each, where) for each in value]}
        if kind is dict:
            return {"kind": "dict", "items": [[self._refer(k, where), self._refer(v, where)] for k, v in value.items()]}
        if kind is slice or kind is range:
            ends = (value.start, value.stop, value.step)
            return {"kind": kind.__name__, "items": [self._refer(each, where) for each in ends]}
        if value is Ellipsis:
            return {"kind": "ellipsis"}
        if kind is torch.dtype:
            return {"kind": "torch", "name": str(value).removeprefix("torch.")}
        if id(kind) in _number_ids:
            bits = base64.b64encode(value.tobytes()).decode()
            return {"kind": "numpy", "dtype": value.dtype.str, "base64": bits}
        if (named := self._find_named(value)) is not None:
            return named
        return self._object(value, kind, where)

    def _object(self, value, kind, where):
        if kind is types.FunctionType:
            return self._function(value, where)
        if _has_base(kind, type):
            return self._class(value, where)
        if _has_base(kind, types.ModuleType):
            return self._module(value)
        if kind is types.SimpleNamespace:
            return self._namespace(vars(value), "namespace", "a namespace")
        if _has_base(kind, _JITFunction):
            return self._kernel(value)
        if _ConstexprFunction is not None and _has_base(kind, _ConstexprFunction):
            return {"kind": "constexpr function", "function": self._refer(_own(value).get("fn"), where)}
        if kind is types.MethodType or kind is _BoundConstexprFunction:
            form = "method" if kind is types.MethodType else "constexpr method"
            return self._pair(form, value.__func__, value.__self__, where)
        if kind is staticmethod or kind is classmethod:
            return {"kind": kind.__name__, "function": self._refer(value.__func__, where)}
        if kind is property:
            return {"kind": "property", "items": [self._refer(f, where) for f in (value.fget, value.fset)]}
        if _has_base(kind, _constexpr):
            return {"kind": "constexpr", "value": self._refer(_own(value).get("value"), where)}
        if _has_base(kind, enum.Enum):
            return {"kind": "member", "class": self._refer(kind, where), "name": _own(value).get("_name_")}
        return self._instance(value, kind, where)

    def _pair(self, form, function, instance, where):
        return {"kind": form, "function": self._refer(function, where), "self": self._refer(instance, where)}

    # ------------------------------------------------------------ what is installed

    def _find_named(self, value):
        """An object that another process finds in an installed module, or None."""
        if (known := _named.get(id(value))) is not None:
            return {"kind": "attribute", "module": known[0], "path": known[1]}
        kind = type(value)
        if kind is types.FunctionType:
            module, path, file = value.__module__, value.__qualname__, value.__code__.co_filename
            if is_installed(file) and _attribute(module, path) is not None and _file_of(module) == file:
                return {"kind": "attribute", "module": module, "path": path}
            return None
        if _has_base(kind, type):
            module, path = _vars_of_class(value).get("__module__"), _qualname_of(value)
        elif id(kind) in _native_ids:
            module, path = value.__module__, getattr(value, "__qualname__", None) or value.__name__
        else:
            return None
        if _attribute(module, path) is value and _is_module_installed(module):
            return {"kind": "attribute", "module": module, "path": path}
        return None

    def _module(self, module):
        name = vars(module).get("__name__")
        if _is_module_installed(name):
            return {"kind": "module", "name": name}
        return self._namespace(vars(module), "made module", f"module {name}", str(name))

    def _namespace(self, members, kind, where, name=""):
        shown = {
            n: v for n, v in list(members.items()) if type(n) is str and not (n.startswith("__") and n.endswith("__"))
        }
        return {"kind": kind, "name": name, "values": {n: self._refer(v, where, n) for n, v in shown.items()}}

    # ------------------------------------------------------------ functions

    def _kernel(self, kernel):
        own = _own(kernel)
        function = own.get("fn")
        if type(function) is not types.FunctionType:
            raise _Indescribable
        if GluonJITFunction is not None and _has_base(type(kernel), GluonJITFunction):
            raise _Indescribable
        where = f"kernel {function.__name__}"
        unspecialised = {
            name: [each for each in own.get(name) or () if type(each) in (int, str)]
            for name in ("do_not_specialize", "do_not_specialize_on_alignment")
        }
        noinline = own.get("noinline") is True
        return {
            "kind": "kernel",
            "noinline": noinline,
            **unspecialised,
            **self._located(_unwrapped(function), where, _scope(function)),
        }

    def _function(self, function, where):
        if function.__code__ is _builtin_code:
            return {"kind": "builtin", "function": self._refer(function.__closure__[0].cell_contents, where)}
        return {"kind": "function", **self._located(function, f"function {function.__name__}", _scope(function))}

    def _located(self, function, where, scope):
        """Where a function's text is, and what it means by its names in ``scope``."""
        code = function.__code__
        file, line, name = code.co_filename, code.co_firstlineno, code.co_name
        found = self._definitions(file, line, name)
        index = _position(found, code)
        names = found[index].names() if found else {*code.co_names, *code.co_freevars}
        return {
            "file": file, "line": line, "name": name, "index": index, "module": _text(function.__module__),
            "names": {n: self._refer(scope[n], where, n) for n in sorted(names) if n in scope},
            "defaults": [self._refer(v, where) for v in function.__defaults__ or ()],
            "named_defaults": {n: self._refer(v, where) for n, v in (function.__kwdefaults__ or {}).items()},
            "annotations": {n: _annotation(v) for n, v in function.__annotations__.items()},
        }  # fmt: skip

    def _definitions(self, file, line, name):
        if file == self._path:
            text = self._text
        else:
            text = "".join(linecache.getlines(file))
            if not is_installed(file):
                self._files[file] = text
        try:
            return definitions_of(text).find(line, name)
        except SyntaxError:
            return []

    # ------------------------------------------------------------ classes and what they make

    def _class(self, kind, where):
        if type(kind) is not type and type(kind) is not type(enum.Enum):
            raise _Indescribable
        members, where = _vars_of_class(kind), f"class {_name_of(kind)}"
        if "__triton_aggregate__" in members:
            return {"kind": "aggregate", "class": self._refer(_aggregated(members), where)}
        if any(_from_library(base) is None for base in _bases_of(kind)):
            raise _Indescribable
        entry = {"kind": "class", "form": "plain", "name": _name_of(kind), "qualname": _qualname_of(kind)}
        if type(kind) is not type:
            values = {n: _own(m).get("_value_") for n, m in members.get("_member_map_", {}).items()}
            entry |= {"form": "enum", "members": [[n, self._refer(v, where)] for n, v in values.items()]}
            members = {n: v for n, v in members.items() if n not in values and _is_written(v)}
        elif _has_base(kind, tuple) and "_make" in members and "_field_defaults" in members:
            defaults = members["_field_defaults"]
            named = {n: self._refer(v, where) for n, v in defaults.items()}
            entry |= {"form": "namedtuple", "fields": list(members["_fields"]), "defaults": named}
            members = {n: v for n, v in members.items() if _is_written(v)}
        elif "__dataclass_fields__" in members:
            entry |= {"form": "dataclass", **self._dataclass(members, where)}
            members = {
                n: v
                for n, v in members.items()
                if n not in _made_by_dataclass and (_is_written(v) or not _is_function(v))
            }
        annotations = members.get("__annotations__", {})
        return {
            **entry,
            "bases": [self._refer(base, where) for base in _bases_of(kind)],
            "annotations": [[n, self._refer(v, where, n)] for n, v in annotations.items()],
            "values": {n: self._refer(v, where, n) for n, v in members.items() if _is_value(n, v)},
        }

    def _dataclass(self, members, where):
        parameters = members["__dataclass_params__"]
        wanted = ("init", "repr", "eq", "order", "unsafe_hash", "frozen", "kw_only")
        fields = []
        for name, each in members["__dataclass_fields__"].items():
            given = {n: getattr(each, n) for n in ("default", "default_factory")}
            kept = {n: self._refer(v, where) for n, v in given.items() if v is not dataclasses.MISSING}
            shown = {n: bool(getattr(each, n)) for n in ("init", "repr", "compare", "kw_only")}
            fields.append({"name": name, **kept, **shown})
        options = {n: bool(getattr(parameters, n)) for n in wanted if hasattr(parameters, n)}
        return {"options": options, "fields": fields}

    def _instance(self, value, kind, where):
        simple = all(id(base) in _library_ids or _from_library(base) is False for base in _mro_of(kind))
        if not simple and not _has_base(kind, _base_type) and "__dataclass_fields__" not in _vars_of_class(kind):
            raise _Indescribable
        values = dict(_own(value))
        for base in _mro_of(kind):
            for name, member in _vars_of_class(base).items():
                if type(member) is types.MemberDescriptorType:
                    try:
                        values[name] = member.__get__(value)
                    except AttributeError:
                        continue
        entry = {"kind": "instance", "class": self._refer(kind, where)}
        if _has_base(kind, tuple):
            entry["items"] = [self._refer(each, where) for each in tuple.__iter__(value)]
        return entry | {"values": {n: self._refer(v, where, n) for n, v in values.items() if type(n) is str}}


# ---------------------------------------------------------------- plain looks at objects


def _has_base(kind, base):
    return any(each is base for each in _mro_of(kind))


def _own(value):
    """An object's own attributes, without asking its class for any."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


def _from_library(kind):
    """Whether a class is installed and one of which kernels' values may be; False for the candidate's, None for any other."""
    if id(kind) in _library_ids:
        return True
    if id(kind) in _named or _is_module_installed(_vars_of_class(kind).get("__module__")):
        return True if _has_base(kind, _base_type) or _has_base(kind, core.base_value) else None
    return False


def _may_be_global(value):
    """Whether Triton lets a kernel use such an object by a global name: its refusal is the candidate's error, and no gap."""
    kind = type(value)
    marks = ("__triton_builtin__", "__triton_aggregate__")
    marked = any(mark in _vars_of_class(base) for base in _mro_of(kind) for mark in marks)
    return marked or _has_base(kind, type) or callable(value) and not _has_base(kind, torch.nn.Module)


@functools.lru_cache(maxsize=1024)
def _is_module_installed(name):
    if type(name) is not str:
        return False
    module = sys.modules.get(name)
    if module is None or not _has_base(type(module), types.ModuleType):
        return False
    members = vars(module)
    file = members.get("__file__")
    if type(file) is str:
        return is_installed(file)
    if name in sys.builtin_module_names:
        return True
    paths = [path for path in members.get("__path__", ()) if type(path) is str]
    return bool(paths) and all(is_installed(path) for path in paths)


def _file_of(name):
    return vars(sys.modules[name]).get("__file__") if _is_module_installed(name) else None


def _attribute(module, path):
    """What stands in a module under a name with dots; None if nothing does."""
    if type(module) is not str or type(path) is not str or module not in sys.modules:
        return None
    found = sys.modules[module]
    for name in path.split("."):
        members = _vars_of_class(found) if _has_base(type(found), type) else _own(found)
        if name not in members:
            return None
        found = members[name]
    return found


def _scope(function):
    """What a function's names mean: those of functions around it, or else the module's."""
    scope = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            scope[name] = cell.cell_contents
        except ValueError:
            scope.pop(name, None)
    return scope


def _unwrapped(function):
    """The function whose text Triton reads, where a decorator stands between it and the kernel."""
    inner = function
    while type(inner) is types.FunctionType and "__wrapped__" in inner.__dict__:
        inner = inner.__dict__["__wrapped__"]
    return inner if type(inner) is types.FunctionType else function


def _position(found, code):
    """Which of several lambdas in a line: the one that takes these arguments and uses these names and values."""
    if len(found) < 2:
        return 0
    wanted = _fingerprint(code)
    for index, each in enumerate(found):
        module = compile(ast.Expression(each.node), "<lambda>", "eval")
        inner = next(c for c in module.co_consts if type(c) is types.CodeType)
        if _fingerprint(inner) == wanted:
            return index
    raise _Indescribable


def _fingerprint(code):
    constants = [repr(c) for c in code.co_consts if type(c) is not types.CodeType and c is not None]
    return code.co_varnames, {*code.co_names, *code.co_freevars}, constants


def _text(value):
    return value if type(value) is str else ""


def _annotation(value):
    """An annotation as Triton reads it: as text."""
    if type(value) is str:
        return value
    if value is _constexpr:
        return "constexpr"
    if _has_base(type(value), _base_type):
        return jit._normalize_ty(value)
    return _name_of(value) if _has_base(type(value), type) else "object"


def _name(function, source):
    """What a kernel of its own naming calls itself for these arguments; None for all others."""
    if _own(function).get("_repr") is None:
        return None
    constants = {function.arg_names[path[0]]: value for path, value in source.constants.items() if len(path) == 1}
    proxy = collections.namedtuple("SpecializationProxy", ["constants", "signature"])
    return str(function.repr(proxy(constants, source.signature)))


def _aggregated(members):
    """The class that Triton made an aggregate of."""
    made = members.get("__new__")
    made = made.__func__ if type(made) is staticmethod else made
    if type(made) is not types.FunctionType or "cls" not in made.__code__.co_freevars:
        raise _Indescribable
    return made.__closure__[made.__code__.co_freevars.index("cls")].cell_contents


def _is_generated(value):
    return type(value) is types.FunctionType and value.__code__.co_filename == "<string>"


def _is_written(value):
    """Whether a class has it from its text, and not from the function that made the class."""
    function = value.__func__ if type(value) in (staticmethod, classmethod) else value
    function = function.fget if type(function) is property else function
    return type(function) is types.FunctionType and not is_installed(function.__code__.co_filename) and not (
        _is_generated(function) or function.__code__.co_filename.startswith("<")
    )  # fmt: skip


def _is_function(value):
    return type(value) is types.FunctionType


def _is_value(name, value):
    return name not in _made_by_python and type(value) not in (types.MemberDescriptorType, types.GetSetDescriptorType)
