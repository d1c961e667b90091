"""Keeps PyTorch's function modes on while gradients are computed, since that runs code of the candidate's: ``backward`` of its
``torch.autograd.Function`` classes, and hooks.

PyTorch switches a mode off while it handles a function, and ``Tensor.backward`` is such a function.
"""

import contextlib
import threading

import torch

from kbx.runner import threads

_FUNCTIONS = frozenset((torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad))
_off = threading.local()


def handling(mode, function):
    """A context for ``mode`` to call ``function`` in: if that computes gradients, ``mode`` is on again meanwhile."""
    return _switched_off(mode) if function in _FUNCTIONS else contextlib.nullcontext()


@contextlib.contextmanager
def _switched_off(mode):
    before = _modes()
    _off.modes = (*before, mode)
    try:
        yield
    finally:
        _off.modes = before


def _modes():
    """Those that are off in this thread, the innermost first."""
    return getattr(_off, "modes", ())


def install():
    """For the rest of this process, in every thread. Gradients are computed in the thread that asks for them, on a GPU as well: there PyTorch has
    threads of its own, which no line of the candidate's has started."""
    graph, usual = torch.autograd, torch.autograd._engine_run_backward

    def run(*args, **kwargs):
        modes, _off.modes = _modes(), ()
        try:
            with contextlib.ExitStack() as stack:
                for mode in reversed(modes):
                    stack.enter_context(mode)
                return usual(*args, **kwargs)
        finally:
            _off.modes = modes

    graph._engine_run_backward = run
    threads.enter_in_each(lambda: graph.set_multithreading_enabled(False))
    graph.set_multithreading_enabled(False)
