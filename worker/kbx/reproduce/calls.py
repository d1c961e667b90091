"""Which call a verdict is about: its message names case and distribution."""

from __future__ import annotations

import ast
import re
from typing import Any

import torch

from kbx.oracle.plan import PlannedCall, plan
from kbx.oracle.task import Parameters, Task

_NAMED = re.compile(r"(?:.*called with )?(.*), (\w+(?: 2\^-?\d+)?) values", re.DOTALL)


def failing(task: Task, seed: str, message: str) -> tuple[PlannedCall, bool]:
    """The call that a message names, with values of ``seed``, and whether it names one; else the first call.

    A shape that was drawn under another seed is not among the calls of this one, and is read from the message.
    """
    calls = plan(task, seed, ordered=True)
    found = [call for call in calls if _label(task, call) in message]
    if found:
        return max(found, key=lambda call: len(_label(task, call))), True
    named = _NAMED.match(message)
    parameters = parsed(named[1]) if named else None
    if named is None or parameters is None or set(parameters) - {name for case in task.cases for name in case}:
        return calls[0], False
    return PlannedCall(0, parameters, named[2], f"{seed}/drawn"), True


def _label(task: Task, call: PlannedCall) -> str:
    return f"{call.message(task)['case']}, {call.distribution} values"


def parsed(text: str) -> Parameters | None:
    """``shape=(37,), dtype=torch.float16`` as parameters; None where it is anything else. Runs nothing."""
    try:
        call = ast.parse(f"f({text})", mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call) or call.args or any(each.arg is None for each in call.keywords):
        return None
    try:
        return {str(each.arg): _literal(each.value) for each in call.keywords}
    except ValueError:
        return None


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "torch":
        dtype = getattr(torch, node.attr, None)
        if isinstance(dtype, torch.dtype):
            return dtype
        raise ValueError(node.attr)
    if isinstance(node, ast.Tuple):
        return tuple(_literal(each) for each in node.elts)
    return ast.literal_eval(node)
