"""The script about one verdict: ``template.py`` with the failing call's arguments and both sides' code in it."""

from __future__ import annotations

import pathlib
import pprint
import re
import secrets
import textwrap
from dataclasses import dataclass, field

import torch

from kbx.oracle import models, taskfile
from kbx.reproduce import calls, reference
from kbx.reproduce.values import expression
from kbx.suite import Call

_ERROR = re.compile(r"(\w+)(?: \(line \d+\))?(?::|$)")
_RAISED = {"compile_error", "runtime_error", "import_error"}
_CALL = re.compile(r"this is call (\d+)")
_ALSO_RAISED = {"no_entry", "syntax_error", "out_of_memory", "crashed"}
"""Failures that running the candidate shows by an exception, too, whose message does not begin with its name."""
_CONFIGURATIONS = re.compile(r"; with configuration ((?:\w+\([^()]*\)(?:, )?)+)")
_GPU_ONLY = {"out_of_bounds", "race", "order_dependent", "undefined_value"}
_WIDTH = 110


@dataclass(frozen=True)
class Failure:
    """What a verdict says. ``task`` is the task file, ``source`` the candidate's, ``status`` how it failed, on calls with ``property`` if that
    is not None. ``dtype`` is what modules were cast to, None where they were not."""

    task: str
    source: str
    origin: str
    status: str
    message: str
    name: str
    cuda: bool
    arch: str
    dtype: str | None = None
    property: str | None = None
    versions: dict[str, str] = field(default_factory=dict)


def written(failure: Failure) -> str:
    """The script. Raises InvalidTask, Unsupported or NotApart."""
    device = "cuda:0" if failure.cuda and torch.cuda.is_available() else "cpu"
    task = taskfile.load(failure.task, device)
    if task.contract.random and failure.status not in _RAISED:
        raise reference.NotApart(
            "the task's results are random and judged by their distribution, which no script shows"
        )
    if failure.dtype is not None:
        task = models.at(task, failure.dtype)
    planned, named = calls.failing(task, secrets.token_hex(16), failure.message)
    call = task.given(task.spoken(planned.made(task, "cpu"), planned.turn))
    of = reference.of(task)
    text = pathlib.Path(__file__).with_name("template.py").read_text(encoding="utf-8")
    text = text.replace('"""@HEADER@"""', _header(failure, named))
    settings = {
        "STATUS": failure.status,
        "ARCH": int(re.sub(r"\D", "", failure.arch) or 90),
        "RAISES": failure.status in _RAISED | _ALSO_RAISED,
        "EXPECTED_ERROR": _error(failure),
        "CALLS": _calls(failure),
        "CONFIGURATIONS": _configurations(failure.message),
        "ENTRIES": task.entries,
        "REFERENCE": of.name,
        "IS_MODEL": of.init is not None,
        "PRECISION": task.cast if isinstance(task, models.ModelTask) else None,
        "UPSTREAM": of.upstream or None,
        "GRADIENTS_OF": reference.differentiated(task, call),
    }
    for name, value in settings.items():
        before, _, after = re.split(rf"(?m)(^{name} = .*$)", text, maxsplit=1)
        text = f"{before}{name} = {value!r}{after}"
    text = text.replace("    return [], {}\n", _arguments(call), 1)
    if of.init is not None:
        text = text.replace("def init_arguments():\n    return []", f"def init_arguments():\n    return {of.init}", 1)
    text = text.replace('REFERENCE_CODE = ""', f"REFERENCE_CODE = {quoted(of.code)}", 1)
    # The candidate last: it may hold any of these texts.
    return text.replace('CANDIDATE_CODE = ""', f"CANDIDATE_CODE = {quoted(failure.source)}", 1)


def _error(failure: Failure) -> str:
    found = _ERROR.match(failure.message)
    return found[1] if found and failure.status in _RAISED else ""


def _calls(failure: Failure) -> int:
    """Which call of its shapes failed, the first as 1."""
    found = _CALL.search(failure.message)
    return int(found[1]) if found else 1 + ("this is the result of another call" in failure.message)


def _configurations(message: str) -> list[str]:
    """What autotuned kernels ran with in the failing call, as ``kernel(BLOCK=64, num_warps=4, num_stages=3)``."""
    found = _CONFIGURATIONS.search(message)
    return re.findall(r"\w+\([^()]*\)", found[1]) if found else []


def _header(failure: Failure, named: bool) -> str:
    versions = ", ".join(
        f"{name} {failure.versions[name]}" for name in ("triton", "torch", "python") if name in failure.versions
    )
    said = " ".join(failure.message.split())
    lines = [
        f"Shows without kbx that {failure.origin} fails at {failure.name}: {failure.status}.",
        f"kbx, with {versions}, said: {said}",
        "Run it as: python THIS_FILE [SEED]. Needs torch and triton, nothing of kbx. Values are drawn anew each time."
        " Exit status: 1 the failure shows, 0 it does not, 2 something else failed."
        " Without a GPU, kernels run in Triton's interpreter; those that do not compile are compiled for the GPU named in ARCH."
        " Autotuned kernels run with the configuration named in CONFIGURATIONS, without a GPU otherwise with their first.",
    ]
    if failure.property:
        lines.insert(1, f"It is right for ordinary calls, and fails on those with the property {failure.property}.")
    if (count := _calls(failure)) > 1:
        lines.append(f"What fails is not the first call: {count} are made of one candidate, and the last is compared.")
    if not named:
        lines.append("The verdict names no call: this one is the first that candidates get.")
    if failure.status in _GPU_ONLY:
        lines.append(
            "What happened may change no value: on a GPU also run it under 'compute-sanitizer python THIS_FILE'."
        )
    text = "\n\n".join(textwrap.fill(line, _WIDTH) for line in lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""'


def _arguments(call: Call) -> str:
    args = "".join(f"        {expression(each)},\n" for each in call.args)
    kwargs = "".join(f"        {name!r}: {expression(each)},\n" for name, each in call.kwargs.items())
    return f"    args = [\n{args}    ]\n    kwargs = {{\n{kwargs}    }}\n    return args, kwargs\n"


def quoted(code: str) -> str:
    """Code as a literal that reads as the code does, where that is possible."""
    if "'''" not in code and not code.endswith(("'", "\\")) and "\r" not in code:
        return f"r'''{code}'''"
    return pprint.pformat(code, width=_WIDTH)
