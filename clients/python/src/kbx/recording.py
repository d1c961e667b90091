"""``kbx.capture``: what a program calls, as own references of kbx with the part of the time that each call took.

A file of a function has the function, ``inputs()`` with a call for each kind, which is what has one dtype, shape and stride of each tensor and
equal other arguments, and ``# weights:``. Nothing here needs kbx's Java or a GPU.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import re
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
import torch.fx
from torch.nn.modules import module as modules
from torch.overrides import TorchFunctionMode, get_testing_overrides, resolve_name

MOST_KINDS = 16
"""Calls in a file: those that took most of the time."""
_DIGITS = 4


class _Unsupported(Exception):
    """A call that no file can hold; says why."""


@dataclass(frozen=True)
class _Tensor:
    """A tensor argument; ``place`` is its key among kept values."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype
    place: str = field(repr=False)

    @property
    def contiguous(self) -> bool:
        return torch.empty(self.shape, device="meta").stride() == self.stride


@dataclass
class _Kind:
    """Calls that are alike, with what the first one was given. ``spans`` are seconds, or pairs of events on a GPU."""

    arguments: dict[str, Any]
    summaries: dict[str, dict[str, float]]
    values: dict[str, torch.Tensor]
    spans: list[Any] = field(default_factory=list)

    def seconds(self) -> float:
        """Of all calls, each with the median's time: the first may have had to wait for what is made once."""
        each = [s if isinstance(s, float) else s[0].elapsed_time(s[1]) / 1e3 for s in self.spans]
        return statistics.median(each) * len(each)


class Recording:
    """A context that records calls, of one thread, and writes files when it ends without an exception; ``files`` are these then."""

    def __init__(self, folder: str | Path, only: Iterable[Any] | None = None, values: bool = False) -> None:
        self.folder, self.values = Path(folder), values
        self.only = None if only is None else list(only)
        self.files: list[Path] = []
        self._kinds: dict[tuple[Any, ...], _Kind] = {}
        self._left_out: dict[tuple[str, str], int] = {}
        self._open: list[tuple[torch.nn.Module, _Begun]] = []
        self._busy = 0
        self._thread = threading.get_ident()
        self._names = {
            getattr(home, name): f"{home.__name__}.{name}"
            for home in (torch, torch.nn.functional)
            for name, each in vars(torch.nn.functional).items()
            if callable(each) and not name.startswith("_") and not isinstance(each, type) and hasattr(home, name)
        }
        for each in self.only or []:
            if not (callable(each) and (isinstance(each, type) or self._name(each))):
                raise ValueError(
                    f"only: {each!r} is neither a function of PyTorch that it can override nor a class of modules"
                )

    def _name(self, function: Any) -> str | None:
        return self._names.get(function) or resolve_name(function)

    def __enter__(self) -> Recording:
        before = modules.register_module_forward_pre_hook(self._before)
        after = modules.register_module_forward_hook(self._after, with_kwargs=True, always_call=True)
        self._entered = contextlib.ExitStack()
        for hook in (before, after):
            self._entered.callback(hook.remove)
        self._entered.enter_context(_Mode(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered.close()
        if kind is None:
            self._write()

    # ------------------------------------------------------------ what is called

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls a function of PyTorch's, and notes it where it is wanted."""
        wanted = function in self._names if self.only is None else any(function is each for each in self.only)
        if self._busy or not wanted:
            return function(*args, **kwargs)
        self._busy += 1
        try:
            kind = self._kind(function, len(args), lambda: _of_function(function, args, kwargs))
            begun = _begin(args, kwargs)
            result = function(*args, **kwargs)
            self._note(kind, begun.ended(), begun.drew())
            return result
        finally:
            self._busy -= 1

    def _before(self, module: torch.nn.Module, args: Any) -> None:
        if threading.get_ident() != self._thread or self._busy or not self._wants(type(module), module):
            return
        self._busy += 1
        self._open.append((module, _begin(args, dict(module.named_parameters()))))

    def _wants(self, kind: type, module: torch.nn.Module) -> bool:
        if self.only is not None:
            return kind in self.only
        return not kind.__module__.startswith("torch.") and next(module.children(), None) is None

    def _after(self, module: torch.nn.Module, args: Any, *rest: Any) -> None:
        """``rest`` are keyword arguments and the result, or None alone after an exception."""
        if threading.get_ident() != self._thread or not self._open or self._open[-1][0] is not module:
            return
        _, begun = self._open.pop()
        span = begun.ended()
        if len(rest) == 2:
            self._note(self._kind(module, 0, lambda: _of_module(module, args, rest[0])), span, begun.drew())
        self._busy -= 1

    def _kind(self, called: Any, positional: int, arguments: Callable[[], dict[str, Any]]) -> tuple[str, _Kind | None]:
        """The name of what is called, and the kind that the call is one of; None if no file can hold it, which is noted."""
        name = type(called).__name__ if isinstance(called, torch.nn.Module) else str(self._name(called))
        values: dict[str, torch.Tensor] = {}
        try:
            held = {place: _described(value, place, values) for place, value in arguments().items()}
        except _Unsupported as error:
            self._leave_out(name, str(error))
            return name, None
        key = (called, positional, tuple(held), repr(held))
        if key not in self._kinds:
            with torch.no_grad():
                summaries = {place: _summary(tensor) for place, tensor in values.items()}
                kept = {place: tensor.detach().cpu().clone() for place, tensor in values.items() if self.values}
            self._kinds[key] = _Kind(held, summaries, kept)
        return name, self._kinds[key]

    def _note(self, kind: tuple[str, _Kind | None], span: Any, drew: bool) -> None:
        if drew:
            self._leave_out(kind[0], "draws random numbers")
        elif kind[1] is not None:
            kind[1].spans.append(span)

    def _leave_out(self, name: str, why: str, calls: int = 1) -> None:
        self._left_out[name, why] = self._left_out.get((name, why), 0) + calls

    # ------------------------------------------------------------ what is written

    def _write(self) -> None:
        if any(isinstance(span, tuple) for kind in self._kinds.values() for span in kind.spans):
            torch.cuda.synchronize()
        sources: dict[tuple[str, str], list[_Kind]] = {}
        for (called, positional, names, _), kind in self._kinds.items():
            if not kind.spans:
                continue
            try:
                source = (
                    _module_source(called, kind.arguments)
                    if isinstance(called, torch.nn.Module)
                    else _function_source(str(self._name(called)), positional, names)
                )
            except _Unsupported as error:
                self._leave_out(type(called).__name__, str(error), len(kind.spans))
                continue
            sources.setdefault(source, []).append(kind)
        functions = [(*source, _merged(kinds)) for source, kinds in sources.items()]
        total = sum(_seconds(kinds) for *_, kinds in functions)
        self.folder.mkdir(parents=True, exist_ok=True)
        written: list[dict[str, Any]] = []
        for name, code, kinds in sorted(functions, key=lambda each: -_seconds(each[2])):
            count = 1 + sum(each["function"] == name for each in written)
            file = self.folder / (f"{name}_{count}.py" if count > 1 else f"{name}.py")
            written.append(self._file(file, name, code, kinds, total))
            self.files.append(file)
        left_out = [{"name": name, "why": why, "calls": calls} for (name, why), calls in self._left_out.items()]
        index = {"torch": torch.__version__, "functions": written, "left_out": left_out}
        (self.folder / "capture.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")

    def _file(self, file: Path, name: str, code: str, kinds: list[_Kind], total: float) -> dict[str, Any]:
        share, calls, others = _seconds(kinds) / total, sum(len(kind.spans) for kind in kinds), len(kinds) - MOST_KINDS
        kinds = sorted(kinds, key=lambda kind: -kind.seconds())[:MOST_KINDS]
        shares = [kind.seconds() / _seconds(kinds) for kind in kinds]
        weights = f"# weights: {', '.join(f'{each:.{_DIGITS}g}' for each in shares)}\n" if len(kinds) > 1 else ""
        kept = "    kept = torch.load(pathlib.Path(__file__).with_suffix('.pt'))\n" if self.values else ""
        drawn = "".join(_yielded(kind, number, self.values) for number, kind in enumerate(kinds))
        file.write_text(
            f'"""`{name}` as kbx.capture recorded it: {_calls(calls)}, {100 * share:.1f} % of the recorded time."""\n\n'
            + ("import pathlib\n\n" if self.values else "")
            + f"import torch\n\n\n{weights}def inputs():\n{kept}{drawn}\n\n{code}",
            encoding="utf-8",
        )
        if self.values:
            torch.save(
                {f"{n} {place}": t for n, kind in enumerate(kinds) for place, t in kind.values.items()},
                file.with_suffix(".pt"),
            )
        return {
            "function": name, "file": file.name, "calls": calls, "seconds": share * total, "share": share, "kinds_left_out": max(0, others),
            "kinds": [
                {"calls": len(kind.spans), "seconds": kind.seconds(), "weight": weight, "arguments": _json(kind.arguments, kind)}
                for kind, weight in zip(kinds, shares, strict=True)
            ],
        }  # fmt: skip


class _Mode(TorchFunctionMode):
    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self.recording = recording

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.recording.called(func, args, kwargs or {})


class _Begun:
    """A call that has begun: its clock, and the state of the generators before it."""

    def __init__(self, on_gpu: bool) -> None:
        self.on_gpu, self.states = on_gpu, _generators(on_gpu)
        self.start: Any = _event() if on_gpu else time.perf_counter()

    def ended(self) -> Any:
        """The seconds that it took, or two events."""
        return (self.start, _event()) if self.on_gpu else time.perf_counter() - self.start

    def drew(self) -> bool:
        pairs = zip(self.states, _generators(self.on_gpu), strict=True)
        return not all(torch.equal(before, after) for before, after in pairs)


def _begin(args: Any, kwargs: Any) -> _Begun:
    return _Begun(any(leaf.is_cuda for leaf in _tensors([args, kwargs])))


def _event() -> Any:
    event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call, unused-ignore]  # torch's
    event.record()
    return event


def _generators(on_gpu: bool) -> list[torch.Tensor]:
    return [torch.get_rng_state(), *([torch.cuda.get_rng_state()] if on_gpu else [])]


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for item in items for tensor in _tensors(item)]


# ---------------------------------------------------------------- arguments


def _of_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name, without keyword arguments at their default, which PyTorch's own functions pass on."""
    like = get_testing_overrides().get(function)
    names = (
        [p.name for p in inspect.signature(like).parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD]
        if like
        else []
    )
    names += [f"arg{i}" for i in range(len(names), len(args))]
    try:
        defaults = {name: p.default for name, p in inspect.signature(function).parameters.items()}
    except ValueError:  # of C++
        defaults = {}
    given = {
        name: value
        for name, value in kwargs.items()
        if not name.startswith("_")
        and (isinstance(value, torch.Tensor) or value != defaults.get(name, inspect.Parameter.empty))
    }
    return dict(zip(names, args, strict=False)) | given


def _of_module(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(module.forward).parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        raise _Unsupported("its forward takes * or **")
    bound = inspect.signature(module.forward).bind(*args, **kwargs)
    bound.apply_defaults()
    state = {f"self.{name}": t for each in (module.named_parameters(), module.named_buffers()) for name, t in each}
    return {**bound.arguments, **state}


def _described(value: Any, place: str, found: dict[str, torch.Tensor]) -> Any:
    """The value with ``_Tensor`` in place of its tensors, which are added to ``found``. Raises _Unsupported."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided or value.is_quantized:
            raise _Unsupported(f"{place} is not a dense tensor")
        found[place] = value
        return _Tensor(tuple(value.shape), tuple(value.stride()), value.dtype, place)
    if isinstance(value, (list, tuple)):
        items = [_described(item, f"{place}[{i}]", found) for i, item in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    if value is None or isinstance(value, (bool, int, float, str, torch.dtype)):
        return value
    raise _Unsupported(f"{place} is a {type(value).__name__}")


def _summary(tensor: torch.Tensor) -> dict[str, float]:
    """Of the finite values; ``finite`` is their part."""
    values = tensor.detach().abs() if tensor.is_complex() else tensor.detach()
    values = values.double() if values.numel() < 1 << 20 else values.float()
    finite = values[values.isfinite()]
    if not finite.numel():
        return {"finite": 0.0}
    return {
        "min": float(finite.min()), "max": float(finite.max()), "mean": float(finite.mean()), "std": float(finite.std(correction=0)),
        "finite": finite.numel() / values.numel(),
    }  # fmt: skip


def _json(value: Any, kind: _Kind) -> Any:
    if isinstance(value, _Tensor):
        shown = {
            "dtype": str(value.dtype).removeprefix("torch."),
            "shape": list(value.shape),
            "stride": list(value.stride),
        }
        return shown | kind.summaries[value.place]
    if isinstance(value, dict):
        return {name: _json(item, kind) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(item, kind) for item in value]
    return str(value) if isinstance(value, torch.dtype) else value


# ---------------------------------------------------------------- files


def _calls(count: int) -> str:
    return f"{count} call{'s' if count != 1 else ''}"


def _seconds(kinds: list[_Kind]) -> float:
    return sum(kind.seconds() for kind in kinds)


def _merged(kinds: list[_Kind]) -> list[_Kind]:
    """One of each kind: layers have calls that are alike."""
    found: dict[str, _Kind] = {}
    for kind in kinds:
        found.setdefault(repr(kind.arguments), _Kind(kind.arguments, kind.summaries, kind.values)).spans.extend(
            kind.spans
        )
    return list(found.values())


def _function_source(name: str, positional: int, names: tuple[str, ...]) -> tuple[str, str]:
    given = ", ".join([*names[:positional], *(f"{each}={each}" for each in names[positional:])])
    short = name.rpartition(".")[2]
    return short, f"def {short}({', '.join(names)}):\n    return {name}({given})\n"


class _Tracer(torch.fx.Tracer):
    def is_leaf_module(self, m: torch.nn.Module, module_qualified_name: str) -> bool:
        return False


def _module_source(module: torch.nn.Module, arguments: dict[str, Any]) -> tuple[str, str]:
    """The name and the code of a function that computes what ``forward`` does, of the arguments that are tensors and the module's state,
    which are left in ``arguments`` by the names that they have there. Raises _Unsupported."""
    fixed = {name: value for name, value in arguments.items() if not isinstance(value, _Tensor)}
    try:
        graph = _Tracer().trace(module, concrete_args=fixed)
    except Exception as error:  # whatever the forward does with values that are not there
        raise _Unsupported(f"torch.fx does not trace it: {' '.join(str(error).split())[:200]}") from None
    for node in list(graph.nodes):
        if node.op == "call_function" and node.target.__name__ in ("_assert", "_assert_is_none"):
            graph.erase_node(node)
    state: dict[str, torch.fx.Node] = {}
    first = next(node for node in graph.nodes if node.op != "placeholder")
    for node in [node for node in graph.nodes if node.op == "get_attr"]:
        if f"self.{node.target}" not in arguments:
            raise _Unsupported(f"self.{node.target} is neither a parameter nor a buffer")
        if node.target not in state:
            with graph.inserting_before(first):
                state[node.target] = graph.placeholder(f"self_{node.target.replace('.', '_')}")
        node.replace_all_uses_with(state[node.target])
        if first is node:
            first = node.next
        graph.erase_node(node)
    graph.eliminate_dead_code()
    for node in graph.nodes:
        node.type = None  # annotations name what the file does not import
    for node in [node for node in graph.nodes if node.op == "placeholder" and not node.users]:
        graph.erase_node(node)
    made = [str(node.target) for node in graph.nodes if node.op == "placeholder"]
    places = {f"self_{target.replace('.', '_')}": f"self.{target}" for target in state}
    taken = {name: arguments[places.get(name, name)] for name in made}
    arguments.clear()
    arguments.update(taken)
    code = re.sub(r";  [\w =]+None", "", graph.python_code("self").src).strip()
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(module).__name__).lower()
    imports = [f"from math import {each}\n" for each in ("inf", "nan") if re.search(rf"\b{each}\b", code)]
    imports += ["from torch import device\n"] if re.search(r"(?<!\.)\bdevice\(", code) else []
    head = "".join(imports) + ("\n\n" if imports else "")
    return name, head + re.sub(r"^def forward\(self(, )?", f"def {name}(", code) + "\n"


def _yielded(kind: _Kind, number: int, kept: bool) -> str:
    def text(value: Any) -> str:
        if isinstance(value, _Tensor):
            return f"kept[{f'{number} {value.place}'!r}]" if kept else _drawn(value, kind.summaries[value.place])
        if isinstance(value, (list, tuple)):
            items = ", ".join(map(text, value))
            return f"[{items}]" if isinstance(value, list) else f"({items}{',' if len(value) == 1 else ''})"
        return (
            f"float('{value}')"
            if isinstance(value, float) and repr(value).strip("-") in ("inf", "nan")
            else repr(value)
        )

    lines = "".join(f"        {name}={text(value)},\n" for name, value in kind.arguments.items())
    return f"    # {_calls(len(kind.spans))}, {kind.seconds() / len(kind.spans) * 1e3:.3g} ms each\n    yield dict(\n{lines}    )\n"


def _drawn(tensor: _Tensor, summary: dict[str, float]) -> str:
    """An expression for a tensor of such values. What was constant is drawn around it: else a kernel could leave out weights of one."""
    size: tuple[int, ...] = tensor.shape
    if not tensor.contiguous:
        size = (
            1 + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride, strict=True))
            if 0 not in tensor.shape
            else 0,
        )
    drawn = _values(size, tensor.dtype, {"min": 0, "max": 1, "mean": 0, "std": 1} | summary)
    return drawn if tensor.contiguous else f"({drawn}).as_strided({tensor.shape}, {tensor.stride})"


def _values(size: tuple[int, ...], dtype: torch.dtype, of: dict[str, float]) -> str:
    if dtype == torch.bool:
        return f"torch.rand({size}) < {of['mean']:.3g}"
    if dtype.is_complex:
        return f"torch.randn({size}, dtype={dtype})"
    if not dtype.is_floating_point:
        return f"torch.randint({int(of['min'])}, {int(of['max']) + 1}, {size}, dtype={dtype})"
    low, high = of["min"], of["max"]
    if low >= 0 and high > 0:  # variances and probabilities stay so
        low, high = (0.5 * low, 1.5 * low) if low == high else (low, high)
        drawn = f"torch.empty({size}).uniform_({low:.3g}, {high:.3g})"
    else:
        drawn = f"torch.empty({size}).normal_({of['mean']:.3g}, {of['std'] or 1:.3g})"
    return drawn if dtype == torch.float32 else f"{drawn}.to({dtype})"
