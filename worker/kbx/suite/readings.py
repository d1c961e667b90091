"""What ``inputs()`` may return, and which calls are meant.

A list of tuples is several calls, and so is what yields them. Where these do not fit the function, what was returned has other readings:
the arguments of one call, or its only argument. Two tuples fit a function of two parameters either way: then it is called.
"""

from __future__ import annotations

import inspect
import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch

from kbx.suite.inputs import Call
from kbx.suite.values import copied, tensors, transform

MOST_CALLS = 256
_TRIED_BYTES = 64 << 20
"""Of the arguments of calls that are made to see which are meant."""
_meant: weakref.WeakKeyDictionary[Callable[..., Any], int] = weakref.WeakKeyDictionary()
"""Which reading of several a function takes, once it was called."""


class Yielded(list[object]):
    """What an iterator gave: calls, nothing else."""


def listed(made: object) -> object:
    """What ``inputs()`` returned, with the items of an iterator taken, of which there may be one more than ``MOST_CALLS``."""
    return Yielded(itertools.islice(made, MOST_CALLS + 1)) if isinstance(made, Iterator) else made


def calls(made: object, function: Callable[..., Any] | None = None) -> list[Call]:
    """The calls that ``inputs()`` returned: a tuple or list of arguments, a dict of keyword arguments, a single tensor, a list of several
    tuples or dicts, or an iterator over calls. Without ``function``, whose calls they are, the first reading counts. Raises ValueError."""
    made = listed(made)
    if isinstance(made, Yielded):
        return _yielded(made)
    readings, certain = _readings(made)
    if not readings:
        raise ValueError(f"must return the arguments as a tuple, list or dict, not {type(made).__name__}")
    if function is None or len(readings) == 1:
        return readings[0]
    fitting = [each for each in readings if all(_fits(function, call) for call in each)]
    if len(fitting) < 2 or (certain and fitting[0] is readings[0]):
        return (fitting or readings)[0]
    return _meant_one(fitting, function)


def _yielded(made: Yielded) -> list[Call]:
    if len(made) > MOST_CALLS:
        raise ValueError(f"yields more than {MOST_CALLS} calls")
    found = [call for call in map(_each, made) if call is not None]
    if not found or len(found) < len(made):
        raise ValueError("must yield the arguments of each call as a tuple, list or dict")
    return found


def _readings(made: object) -> tuple[list[list[Call]], bool]:
    """What may be meant, the usual reading first, and whether nothing else is where that one fits."""
    if isinstance(made, Call):
        return [[made]], True
    if isinstance(made, torch.Tensor):
        return [[Call((made,))]], True
    alone = [Call((made,))]
    if isinstance(made, dict):
        return ([[Call((), made)], alone] if all(isinstance(name, str) for name in made) else [alone]), True
    if not isinstance(made, (list, tuple)):
        return [], True
    together, several = [Call(tuple(made))], [_each(one) for one in made]
    found = [one for one in several if one is not None]
    if not made or len(found) < len(made):
        return [together, alone], True
    if isinstance(made, list) and any(all(isinstance(one, kind) for one in made) for kind in (tuple, dict)):
        return [found, together, [Call((one,)) for one in made], alone], False
    return [together, found, alone], True


def _each(one: object) -> Call | None:
    if isinstance(one, Call):
        return one
    if isinstance(one, dict):
        return Call((), one) if all(isinstance(name, str) for name in one) else None
    if isinstance(one, (list, tuple)):
        return Call(tuple(one))
    return Call((one,)) if isinstance(one, torch.Tensor) else None


def _fits(function: Callable[..., Any], call: Call) -> bool:
    try:
        inspect.signature(function).bind(*call.args, **call.kwargs)
    except (TypeError, ValueError):
        return False
    return True


def _meant_one(fitting: list[list[Call]], function: Callable[..., Any]) -> list[Call]:
    """Of readings that fit, the one that the function computes something of; of several the one whose arguments have the most structure,
    which only a function that takes it apart returns from."""
    known = _meant.get(function)
    if known is None or known >= len(fitting):
        size = max(sum(t.nbytes for t in tensors([call.args, call.kwargs])) for each in fitting for call in each)
        computed = [] if size > _TRIED_BYTES else [i for i, each in enumerate(fitting) if _computes(function, each[0])]
        known = max(computed, default=0, key=lambda i: _depth([fitting[i][0].args, fitting[i][0].kwargs]))
        if computed:
            _meant[function] = known
    return fitting[known]


def _computes(function: Callable[..., Any], call: Call) -> bool:
    """Whether the function returns tensors of its own, and not those of tuples that it has put together."""
    mine = Call(transform(call.args, copied), transform(call.kwargs, copied))
    given = tensors([mine.args, mine.kwargs])
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            result = function(*mine.args, **mine.kwargs)
    except Exception:  # any: it is another reading's call
        return False
    return any(all(t is not each for each in given) for t in tensors(result))


def _depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if isinstance(value, (list, tuple)) else 0
