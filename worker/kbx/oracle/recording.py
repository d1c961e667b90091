"""Imported tasks: the calls that an original task file's own tests make become the cases.

The file is a reference, a line of 146 ``#``, and tests that call the entry. It is run once from top to bottom, as the original
does it, with seed 0; between reference and tests a recorder takes the entry's place and keeps a copy of each call's arguments.
A candidate gets the same arguments in a process of its own. Calls that cannot be judged that way are left out and counted.
"""

import ast
import contextlib
import functools
import hashlib
import inspect
import io
import os
import random
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import torch

from kbx import tensors
from kbx.oracle import arenas, faults, judge, truth
from kbx.oracle.eager import eager
from kbx.oracle.on_cpu import on_cpu
from kbx.oracle.task import Function, InvalidTask, Parameters, Stamp, Task, deepest_line, named_tensors
from kbx.oracle.triton_on_cpu import launching
from kbx.suite import Call, sharing
from kbx.suite.original import Original, OriginalModel, OriginalRules, OwnFunction
from kbx.suite.values import articled, leaves, plain, transform
from kbx.suite.values import tensors as tensors_of

SEPARATOR = "#" * 146
SEED = 0
OTHER_SEEDS = range(1, 33)
"""A result that changes under one of these is random. Where outcomes are few they agree by chance: one that comes up in half of all
draws does so under every seed once in 2**32, one that comes up in nine of ten in 3 % of cases."""
MAX_CALLS = 256
"""Calls recorded of one file; the original has a few dozen at most."""
KEPT = 4
"""Recordings held in memory; they are made again when they are asked for."""
BEGIN = "_kbx_begin_tests"


@dataclass(frozen=True, eq=False)
class RecordedTask(Task):
    """An imported task. ``path`` is the original file, where its errors are."""

    original: Original = field(kw_only=True)
    device: str = field(kw_only=True)
    scratch: tuple[str, ...] = field(kw_only=True)
    """Arguments that the reference changes and the tests do not look at again: a call may leave anything in them."""

    def call(
        self,
        parameters: Parameters,
        distribution: str,
        seed: str,
        device: str | torch.device = "cpu",
        fast: bool = False,
    ) -> Call:
        """The recorded arguments of one call: the original's seed made them, whatever ``seed`` is."""
        return _recorded(self.original.file, self.original.sha256, self.entry, self.device).calls[parameters["call"]]

    def check_unchanged(self) -> None:
        read(self.original.file, self.original.sha256)

    def updates(self, path: str) -> bool:
        return path.split("[")[0] in self.mutates

    def may_change(self, path: str) -> bool:
        return path.split("[")[0] in (*self.mutates, *self.scratch)


def task(stamp: Stamp, original: Original, entry: str | None, device: str) -> RecordedTask:
    """The task of an original file; raises InvalidTask when none of its calls can be judged."""
    entry = entry or os.path.splitext(os.path.basename(stamp[0]))[0]
    recording = _recorded(original.file, original.sha256, entry, device)
    return RecordedTask(
        path=original.file, stamp=stamp, name=os.path.splitext(os.path.basename(stamp[0]))[0], entry=entry,
        dtype="float32", cases=[{"call": i} for i in recording.calls], sizes=[],
        contract=OriginalRules(thresholds=original.thresholds), reference=recording.reference,
        inputs=recording.reference, distributions=("recorded",), mutates=recording.judged, skip_controls=recording.skipped, controls={},
        rounds=1, note=recording.note, original=original, device=device, scratch=recording.scratch,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Recording:
    """What one run of a file's tests left: the calls that can be judged, by their number among all."""

    calls: dict[int, Call]
    reference: Function
    judged: tuple[str, ...]
    scratch: tuple[str, ...]
    note: str
    skipped: dict[str, str]
    """As a task's ``SKIP_CONTROLS``."""


@functools.lru_cache(maxsize=KEPT)
def _recorded(file: str, sha256: str, entry: str, device: str) -> _Recording:
    run = _Run(file, sha256, entry, device)
    results = run.execute()
    if not run.calls and not run.left_out:
        raise InvalidTask(f"the tests never call {entry}()", file, run.separator)
    reference = run.reference()
    for number in [n for n, made in run.calls.items() if not _repeatable(reference, *made, run.drew[n])]:
        del run.calls[number]
        run.left_out["random" if run.drew[number] else "depends on earlier calls"] += 1
    returns = any(tensors_of(result) for _, result in run.calls.values())
    skipped = {} if returns else dict.fromkeys(("wrong_shape", "wrong_dtype"), "no tensor is returned")
    total = len(run.calls) + run.left_out.total()
    reasons = ", ".join(f"{text} ({n})" for text, n in run.left_out.most_common())
    if not run.calls:
        raise InvalidTask(f"no call of its tests can be judged in another process: {reasons}", file, run.line)
    judged, scratch = (run.changed, ()) if run.changed and _looked_at(run, results) else ((), run.changed)
    note = f"{run.left_out.total()} of {total} calls are not judged: {reasons}" if run.left_out else ""
    return _Recording({n: call for n, (call, _) in run.calls.items()}, reference, judged, scratch, note, skipped)


def _repeatable(reference: Function, call: Call, result: Any, drew: bool) -> bool:
    """Whether a call gives its result under other seeds too. One that ``drew`` no random numbers is only made once more: it
    may still depend on calls before it.
    """
    for seed in OTHER_SEEDS if drew else OTHER_SEEDS[:1]:
        mine = truth.copy_call(call)
        torch.manual_seed(seed)
        random.seed(seed)
        try:
            with torch.no_grad():
                other = reference(*mine.args, **mine.kwargs)
        except Exception as error:
            if faults.of_device(error):
                raise
            return False
        if not _agree(result, other):
            return False
    return True


def _looked_at(run: "_Run", results: Any) -> bool:
    """Whether the tests look at arguments after the call that changed them: they are run again on arguments that stay as they
    were, and leave other results.
    """
    protected = _Run(run.file, run.sha256, run.entry, run.device, protect=True)
    try:
        return not _agree(results, protected.execute())
    except InvalidTask:
        return True


def _agree(one: Any, other: Any) -> bool:
    """Whether two results have one form and equal values by the usual tolerances."""
    one, other = leaves(one), leaves(other)
    if [(path, _form(v)) for path, v in one] != [(path, _form(v)) for path, v in other]:
        return False
    plain = [(tuple(v for _, v in side if isinstance(v, (torch.Tensor, int, float, str)))) for side in (one, other)]
    return OriginalRules().compare(None, [plain[1]], plain[0], None).right


def _form(value: object) -> object:
    return (value.shape, value.dtype) if isinstance(value, torch.Tensor) else type(value)


class _Run:
    """One execution of an original file. ``protect`` calls the reference on copies of the arguments."""

    def __init__(self, file: str, sha256: str, entry: str, device: str, protect: bool = False) -> None:
        self.file, self.sha256, self.entry, self.device, self.protect = file, sha256, entry, device, protect
        self.calls: dict[int, tuple[Call, Any]] = {}
        self.drew: dict[int, bool] = {}
        self.left_out: Counter[str] = Counter()
        self.changed: tuple[str, ...] = ()
        self.function: types.FunctionType | None = None
        self.recorder: Callable[..., Any] | None = None
        self.separator = 0
        self.line: int | None = None
        self.count, self.inside = 0, False

    def execute(self) -> Any:
        """Runs reference and tests; returns ``test_results``."""
        tree = self._parse(read(self.file, self.sha256))
        module = types.ModuleType("__main__")
        module.__dict__.update({"__file__": self.file, BEGIN: lambda: self._begin(module.__dict__)})
        try:
            with surroundings(self.device):
                random.seed(SEED)
                torch.manual_seed(SEED)
                exec(compile(tree, self.file, "exec"), module.__dict__)
        except InvalidTask:
            raise
        except (Exception, SystemExit) as error:
            if faults.of_device(error):
                raise
            line = deepest_line(error, self.file)
            raise InvalidTask(self._failed(error, line), self.file, line) from error
        finally:
            module.__dict__.update(
                {name: self.function for name, value in module.__dict__.items() if value is self.recorder}
            )
        if "test_results" not in module.__dict__:
            raise InvalidTask("the tests leave no test_results", self.file, self.separator)
        # What the reference's module keeps is kept as long as the reference.
        return placed(module.__dict__.pop("test_results"), self.device)

    def reference(self) -> Function:
        """The reference, for a call outside the tests."""
        function, device = self._entry, self.device

        @functools.wraps(function)
        def reference(*args: Any, **kwargs: Any) -> Any:
            with surroundings(device):
                return placed(function(*args, **kwargs), device)

        return cast("Function", reference)

    @property
    def _entry(self) -> types.FunctionType:
        """The file's own function, known once its tests have begun."""
        assert self.function is not None
        return self.function

    def _parse(self, source: str) -> ast.Module:
        try:
            tree = ast.parse(source, self.file)
        except SyntaxError as error:
            raise InvalidTask(f"not valid Python: {error.msg}", self.file, error.lineno) from None
        lines = [n for n, line in enumerate(source.splitlines(), 1) if line.strip() == SEPARATOR]
        if not lines:
            raise InvalidTask("no line of 146 # divides reference and tests", self.file)
        self.separator = lines[0]
        above = sum(s.lineno < self.separator for s in tree.body)
        begin = ast.Expr(ast.Call(ast.Name(BEGIN, ast.Load()), [], []))
        for node in ast.walk(begin):
            if isinstance(node, (ast.stmt, ast.expr)):
                node.lineno = node.end_lineno = self.separator
                node.col_offset = node.end_col_offset = 0
        tree.body.insert(above, begin)
        return tree

    def _begin(self, names: dict[str, Any]) -> None:
        """Puts the recorder where the tests will find the entry."""
        function = names.get(self.entry)
        if not isinstance(function, types.FunctionType):
            raise InvalidTask(f"defines no function {self.entry} above the separator", self.file, self.separator)
        self.function, self.line = function, function.__code__.co_firstlineno

        @functools.wraps(function)
        def recorder(*args: Any, **kwargs: Any) -> Any:
            return self._called(Call(args, kwargs))

        self.recorder = recorder
        names.update({name: recorder for name, value in names.items() if value is function})

    def _called(self, call: Call) -> Any:
        if self.inside:
            return self._entry(*call.args, **call.kwargs)
        self.inside = True
        try:
            return self._record(call)
        finally:
            self.inside = False

    def _record(self, call: Call) -> Any:
        number, self.count = self.count, self.count + 1
        before = self._copied(call)
        given = self._copied(call) if self.protect else call
        states = truth.generator_states()
        try:
            result = self._entry(*given.args, **given.kwargs)
        except Exception:
            self.left_out["the reference raises"] += 1
            raise
        kept = transform(result, self._copy)
        reason = f"beyond the first {MAX_CALLS}" if number >= MAX_CALLS else self._obstacle(before, kept)
        if reason:
            self.left_out[reason] += 1
            return result
        self.calls[number] = before, kept
        self.drew[number] = truth.moved(states)
        pairs = zip(named_tensors(self._entry, before), named_tensors(self._entry, call), strict=True)
        changed = {name.split("[")[0] for (name, old), (_, new) in pairs if not judge.equal_bits(old, self._copy(new))}
        self.changed = tuple(dict.fromkeys((*self.changed, *sorted(changed))))
        return result

    def _copied(self, call: Call) -> Call:
        return Call(transform(call.args, self._copy), transform(call.kwargs, self._copy))

    def _copy(self, leaf: Any) -> Any:
        """A leaf of its own memory on the device, out of every graph; tensors of odd layouts are left to be refused."""
        if not isinstance(leaf, torch.Tensor) or leaf.layout != torch.strided:
            return leaf
        leaf = placed(leaf, self.device).detach().as_subclass(torch.Tensor)
        return truth.copy_leaf(leaf.resolve_conj().resolve_neg() if leaf.is_conj() or leaf.is_neg() else leaf)

    def _obstacle(self, call: Call, result: Any) -> str | None:
        """Why a call cannot be made or judged in another process; None when it can."""
        signature = inspect.signature(self._entry).bind(*call.args, **call.kwargs).arguments
        arguments = [leaf for name, value in signature.items() for leaf in leaves(value, name)]
        for path, leaf in [*arguments, *leaves(result, "the result")]:
            if isinstance(leaf, torch.Tensor):
                if leaf.layout != torch.strided or leaf.dtype not in tensors.DTYPES.values():
                    return f"{path} is a {leaf.layout} tensor of {tensors.dtype_name(leaf.dtype)}"
            elif tensors.encode(leaf, tensors.no_tensors)["t"] == "opaque":
                return f"{path} is {articled(type(leaf).__name__)}"
        sizes = [sum(t.numel() * t.element_size() for t in tensors_of(v)) for v in ([call.args, call.kwargs], result)]
        return "too large" if max(sizes) > arenas.CAPACITY * 7 // 8 else None

    def _failed(self, error: BaseException, line: int | None) -> str:
        if isinstance(error, ModuleNotFoundError) and error.name:
            return f"needs the module {error.name!r}, which is neither beside the file nor installed in this Python"
        part = "the reference" if line and line < self.separator else "the tests"
        text = " ".join(str(error).split())
        return f"{part} raised {type(error).__name__}{': ' + text[:300] if text else ''}"


@contextlib.contextmanager
def surroundings(device: str | torch.device) -> Iterator[None]:
    """Makes the CPU their GPU where there is none, and leaves nothing of theirs behind."""
    path, argv, modules, dtype = list(sys.path), list(sys.argv), set(sys.modules), torch.get_default_dtype()
    precision, bytecode = torch.get_float32_matmul_precision(), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.argv[1:] = []  # nothing of this process's own
    host = torch.device(device).type == "cpu"
    there, launches = (on_cpu(), launching()) if host else (contextlib.nullcontext(), contextlib.nullcontext())
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            torch.set_grad_enabled(torch.is_grad_enabled()),
            eager(),
            there,
            launches,
        ):
            yield
    finally:
        added = {os.path.realpath(folder) for folder in set(sys.path) - set(path)}
        for name in [n for n in sys.modules if n not in modules and _place(n) in added]:
            del sys.modules[name]
        sys.path[:] = path
        sys.argv[:] = argv
        sys.dont_write_bytecode = bytecode
        torch.set_default_dtype(dtype)
        torch.set_float32_matmul_precision(precision)


def _place(name: str) -> str | None:
    """The folder on the path that a module was found in, itself or the package that it belongs to."""
    top = sys.modules.get(name.partition(".")[0])
    file: str | None = getattr(top, "__file__", None)
    folders: list[str] = list(getattr(top, "__path__", []))
    if folders:
        return os.path.realpath(os.path.dirname(folders[0]))
    return os.path.realpath(os.path.dirname(file)) if file else None


@contextlib.contextmanager
def beside(file: str) -> Iterator[None]:
    """Lets the modules in a file's folder be imported. The standard library comes before them: this process imports of it, too."""
    installed = (place for place, folder in enumerate(sys.path) if folder.endswith("-packages"))
    sys.path.insert(next(installed, len(sys.path)), os.path.dirname(os.path.abspath(file)))
    yield  # ``surroundings`` takes the folder from the path, and forgets its modules: another's may have the same names


def read(file: str, sha256: str, changed: str = Original.CHANGED) -> str:
    """The source of an original that is still what was imported."""
    try:
        with open(file, "rb") as opened:
            content = opened.read()
        source = content.decode("utf-8-sig")
    except OSError as error:
        text = f"the original file cannot be read ({error.strerror}); the task needs it where it was"
        raise InvalidTask(text, file) from None
    except UnicodeDecodeError:
        raise InvalidTask("the original file is not UTF-8", file) from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InvalidTask(changed, file)
    return source


def check_unchanged(original: OriginalModel | OwnFunction) -> None:
    """Raises InvalidTask where a file that a task rests on is no longer what it was."""
    for file, sha256 in original.digests().items():
        read(file, sha256, original.CHANGED)


def placed(value: Any, device: str | torch.device) -> Any:
    """Results out of every graph and on the device, where those of a candidate belong."""

    def place(leaf: Any) -> Any:
        leaf = plain(leaf)
        if not isinstance(leaf, torch.Tensor):
            return leaf
        leaf = leaf.detach() if leaf.requires_grad else leaf
        return leaf if leaf.device.type == torch.device(device).type else leaf.to(device)

    return sharing.changed(value, place)
