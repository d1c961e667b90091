"""References that compute gradients."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

import torch
from torch import nn

from kbx.oracle.task import Function, Task, named_tensors
from kbx.suite import Call
from kbx.suite.values import transform


@contextlib.contextmanager
def graph_noted() -> Iterator[None]:
    """With gradients on, which are computed in this thread, as a candidate's are: see ``kbx.runner.backward``."""
    with torch.enable_grad(), torch.autograd.set_multithreading_enabled(False):
        yield


def differentiating(function: Function, marked: frozenset[str] = frozenset()) -> Function:
    """A function that calls ``backward()`` or ``torch.autograd.grad``, as one that may be called anywhere: with gradients on, on tensors
    of its own over the same memory, which have none yet; those of arguments ``marked`` require one. What it returns is in no graph."""

    def reference(*args: Any, **kwargs: Any) -> Any:
        _forget([*args, *kwargs.values(), *function.__globals__.values()])
        own: dict[int, torch.Tensor] = {}

        def apart(leaf: Any) -> Any:
            return own.setdefault(id(leaf), leaf.detach()) if isinstance(leaf, torch.Tensor) else leaf

        for name, tensor in named_tensors(function, Call(args, kwargs)) if marked else ():
            if name.split("[")[0] in marked:
                apart(tensor).requires_grad_()
        with graph_noted():
            result = function(*transform(args, apart), **transform(kwargs, apart))
        return transform(result, _detached)

    return in_place_of(function, reference)


def computing(task: Task) -> Task:
    """A task whose functions compute gradients; its calls tell which arguments are to require one."""
    call = task.call(task.cases[0], task.distributions[0], task.name)
    marked = frozenset(name.split("[")[0] for name, t in task.named_tensors(call) if t.requires_grad)
    controls = {name: differentiating(each, marked) for name, each in task.controls.items()}
    reference = differentiating(task.reference, marked)
    return replace(task, reference=reference, controls=controls, differentiates=True, marked=marked)


def differentiating_model(model: type[nn.Module]) -> type[nn.Module]:
    """The same of a module: a class that is constructed alike."""
    return type(model.__name__, (model,), {"forward": differentiating(model.forward), "__module__": model.__module__})


def _forget(values: list[Any]) -> None:
    """Takes the gradients of earlier calls from weights, where those of the next would be added."""
    weights = [value for value in values if isinstance(value, torch.Tensor) and value.is_leaf and value.requires_grad]
    weights += [p for value in values if isinstance(value, nn.Module) for p in value.parameters()]
    for weight in weights:
        weight.grad = None


def _detached(leaf: Any) -> Any:
    return leaf.detach() if isinstance(leaf, torch.Tensor) and leaf.requires_grad else leaf


def in_place_of(function: Function, reference: Callable[..., Any]) -> Function:
    """``reference`` with the name, the signature and the place in its file of ``function``, which complaints name."""
    made = cast("Function", functools.wraps(function)(reference))
    made.__code__ = made.__code__.replace(co_firstlineno=function.__code__.co_firstlineno)
    return made


_NAMES = {"backward", "autograd", "requires_grad_", "requires_grad"}


def computes_gradients(module: dict[str, Any]) -> bool:
    """Whether the functions and methods of a task file name what computes gradients."""
    found = [*module.values(), *(v for kind in module.values() if isinstance(kind, type) for v in vars(kind).values())]
    functions = (each for each in found if isinstance(each, types.FunctionType) and each.__globals__ is module)
    return any(_names(each.__code__) & _NAMES for each in functions)


def _names(code: types.CodeType) -> set[str]:
    return {*code.co_names}.union(*(_names(part) for part in code.co_consts if isinstance(part, types.CodeType)))
