"""A candidate's Python module, and what of it is called; a class becomes an instance before anything is."""

import contextlib
import sys
import types
import unicodedata

import torch
from torch.utils import _device, _pytree

from kbx import state, tensors
from kbx.runner import extensions

STATE = "self"
"""The keyword argument that brings a module's state, and takes it back."""
# Taken before any candidate is loaded.
_named_parameters, _named_buffers = torch.nn.Module.named_parameters, torch.nn.Module.named_buffers
_copy = torch._C.TensorBase.copy_
_shape, _dtype_of = torch._C.TensorBase.shape.__get__, torch._C.TensorBase.dtype.__get__


class NoEntry(Exception):
    """The candidate defines none of the names asked for."""


def load(source, path, names, arch, watching=contextlib.nullcontext):
    """Runs ``source``, which lies at ``path``; the first of ``names`` that it defines as something to call, and that.

    ``arch``: there is no GPU, and this is what code is for. ``watching``: gives a context for the candidate's code.
    Raises NoEntry, or what the candidate raises.
    """
    if extensions.MODULE in unicodedata.normalize("NFKC", source):  # as Python reads names
        extensions.install(path, arch)
    module = types.ModuleType("candidate")
    module.__file__ = path
    sys.modules["candidate"] = module
    with watching():
        exec(compile(source, path, "exec"), vars(module))
    for name in names:
        if callable(getattr(module, name, None)):
            return name, getattr(module, name)
    raise NoEntry(f"none of {', '.join(names)} is defined")


def construct(kind, module, device):
    """An instance of ``kind`` on ``device``, and how to call it: without gradients unless the reference computes some; ``module`` as in
    ``messages.oracle.Opened``.

    Its weights are from the seed that the reference's are from: made on the CPU, in the order that the class makes them.
    """
    init = [tensors.decode(tree, None) for tree in module["init"]]
    torch.manual_seed(module["seed"])
    with torch.no_grad():
        made = _made(kind, init).to(device, *_dtype(module))
    if module.get("backward"):
        return made, _gradients(made, module["backward"])
    return made, _with_gradients(made) if module.get("differentiates") else torch.no_grad()(made)


def _with_gradients(made):
    """Calls an instance with gradients on. Those of the call before are gone: its parameters would add up all."""

    def call(*args, **kwargs):
        if isinstance(made, torch.nn.Module):
            for _, parameter in _named_parameters(made):
                parameter.grad = None
        return made(*args, **kwargs)

    return call


def _gradients(made, asked):
    """Calls an instance with gradients on, and returns those of its results by name; ``asked`` as in ``messages.Differentiated``. What the
    results do not depend on has zeros."""

    def call(*args, **kwargs):
        upstream, (args, kwargs) = (
            args[: asked["results"]],
            _pytree.tree_map(_apart, (args[asked["results"] :], kwargs)),
        )
        given = _tensors((args, kwargs))
        inputs = [given[place].requires_grad_() for place in asked["positions"]]
        with torch.enable_grad():
            results = [each for each in _tensors(made(*args, **kwargs)) if each.requires_grad]
        _check_count("results that can be differentiated", len(results), len(upstream))
        weights = [p for p in _parameters(made) if p.requires_grad]
        _check_count("parameters that require a gradient", len(weights), len(asked["names"]) - len(inputs))
        found = torch.autograd.grad(results, [*inputs, *weights], upstream, allow_unused=True, materialize_grads=True)
        shared = {_home(each) for each in upstream}
        return {name: _owned(each, shared) for name, each in zip(asked["names"], found, strict=True)}

    return call


def _check_count(what, found, wanted):
    if found != wanted:
        text = "; kernels are differentiated by the backward of a torch.autograd.Function" if not found else ""
        raise TypeError(f"ModelNew has {found} {what}, and Model {wanted}{text}")


def _apart(leaf):
    """A tensor of its own over the same memory, which may require a gradient."""
    return leaf.detach() if isinstance(leaf, torch.Tensor) else leaf


def _owned(gradient, shared):
    """A gradient in memory of its own, as the reference's are."""
    passed_on = _home(gradient) in shared or 0 in gradient.stride()
    return gradient.clone(memory_format=torch.contiguous_format) if passed_on else gradient


def _home(tensor):
    return tensor.untyped_storage()._cdata


def _tensors(value):
    return [leaf for leaf in _pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _parameters(made):
    return [p for _, p in _named_parameters(made)] if isinstance(made, torch.nn.Module) else []


def _dtype(module):
    """What the weights are cast to, as one of a list; an empty one where they are not."""
    return [tensors.DTYPES[module["dtype"]]] if module.get("dtype") else []


def _made(kind, init):
    """An instance. Where the source has set a default device, its weights are drawn on the CPU all the same, and tensors that are no
    weights are put there afterwards, as they would have been."""
    default = _device.CURRENT_DEVICE
    if default is None:
        return kind(*init)
    torch.set_default_device("cpu")
    try:
        made = kind(*init)
    finally:
        torch.set_default_device(default)
    for part in made.modules() if isinstance(made, torch.nn.Module) else ():
        for name, value in list(vars(part).items()):
            if type(value) is torch.Tensor and value.device.type == "cpu":
                setattr(part, name, value.to(default))
    return made


def buffers_like(made, state):
    """The tensors of ``state`` by the names that the instance's buffers have: those of ``state``, or in order all that it has, where these are
    of the same forms. And the names for which it has none."""
    own = dict(_named_buffers(made)) if isinstance(made, torch.nn.Module) else {}
    lacking = [name for name, tensor in state.items() if name not in own or _form(own[name]) != _form(tensor)]
    if lacking and [_form(buffer) for buffer in own.values()] == [_form(tensor) for tensor in state.values()]:
        return dict(zip(own, state.values(), strict=True)), []
    return {name: tensor for name, tensor in state.items() if name not in lacking}, lacking


def enter(made, state):
    """Gives the instance's buffers, by name, these contents; the buffers."""
    own = dict(_named_buffers(made)) if state else {}
    with torch.no_grad():
        for name, tensor in state.items():
            _copy(own[name], tensor)
    return [own[name] for name in state]


def leave(made, state):
    """Puts what the buffers hold now, whatever they have become, into the tensors."""
    own = dict(_named_buffers(made)) if state else {}
    with torch.no_grad():
        for name, tensor in state.items():
            if name in own and _form(own[name]) == _form(tensor):
                _copy(tensor, own[name])


def _is_constant(tensor):
    return tensor.numel() > 0 and bool((tensor == tensor.reshape(-1)[0]).all())


def _form(tensor):
    return tuple(_shape(tensor)), _dtype_of(tensor)


def take_state(made, shapes):
    """Changes the parameters of an instance if they have these shapes, by name; whether they do. Whatever else it is, no.

    Parameters that are ones or zeros may have other names: whichever they stand for, they become the same.
    """
    if not isinstance(made, torch.nn.Module):
        return False
    named = list(_named_parameters(made))
    own = state.shapes(named)
    renamed = [parameter for name, parameter in named if own[name] != shapes.get(name)]
    if sorted(own.values()) != sorted(shapes.values()) or not all(map(_is_constant, renamed)):
        return False
    state.change([parameter for _, parameter in named])
    return True
