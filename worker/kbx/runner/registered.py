"""Operators that a candidate registers with ``torch.library``: PyTorch runs their bodies with its modes taken off."""

import functools

import torch

_names = set()


def is_own(function):
    """Whether an operator was registered here: what its body does is seen, so the call itself computes nothing."""
    schema = getattr(function, "_schema", None)
    return schema is not None and schema.name in _names


def enter_in_each(context):
    """From now on, the body of every operator that is registered enters ``context()`` first."""
    for registrar in ("custom_op", "triton_op"):
        setattr(torch.library, registrar, _wrapping(getattr(torch.library, registrar), context))


def _wrapping(register, context):
    def wrap(function):
        @functools.wraps(function)
        def inside(*args, **kwargs):
            with context():
                return function(*args, **kwargs)

        return inside

    def registered(name, fn=None, /, **options):
        if fn is None:
            return lambda fn: registered(name, fn, **options)
        operator = register(name, wrap(fn), **options)
        _names.add(name)
        return operator

    return registered
