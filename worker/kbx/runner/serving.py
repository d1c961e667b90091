"""Calls on a GPU under conditions that serving makes: another stream than the default one, and CUDA graphs.

What is found is a claim, like everything of a runner's, and decides nothing.
"""

import torch
from torch.utils import _pytree

from kbx import graphs

_WAIT = 100_000_000
"""Cycles of the device before the arguments are what they are: some 50 ms, in which a launch on another stream has read them."""
_POISON = 0xFF
_REHEARSALS = 2
"""Calls before the one that counts, in which kernels are compiled and tuned: neither can be done on a stream that is recorded."""


class Conditions:
    """Of one candidate's calls on ``device``."""

    def __init__(self, device):
        self._device, self._recorded, self._own = device, None, None

    def call(self, under, entry, args, kwargs, put):
        """Calls ``entry`` under a condition of ``messages.runner.Call``; what ``put`` makes of its result, or None where nothing has run."""
        return {"stream": self._on_stream, "capture": self._capture, "replay": self._replay}[under](
            entry, args, kwargs, put
        )

    def _on_stream(self, entry, args, kwargs, put):
        _rehearse(entry, args, kwargs)
        own = _copies((args, kwargs))
        _each(_poison, own)
        torch.cuda.synchronize(self._device)
        aside = torch.cuda.Stream(self._device)
        with torch.cuda.stream(aside):
            torch.cuda._sleep(_WAIT)
            _move((args, kwargs), own)
            result = entry(*own[0], **own[1])
            # Not the device: what was launched elsewhere has not been waited for by anybody who uses this stream.
            aside.synchronize()
            _move(own, (args, kwargs))
            aside.synchronize()
        return put(result)

    def _capture(self, entry, args, kwargs, put):
        del put
        _rehearse(entry, args, kwargs)
        self._own = _copies((args, kwargs))
        torch.cuda.synchronize(self._device)
        self._recorded = graphs.Recorder(self._device).record(entry, *self._own[0], **self._own[1])
        torch.cuda.synchronize(self._device)

    def _replay(self, entry, args, kwargs, put):
        del entry
        _move((args, kwargs), self._own)
        result = self._recorded()
        torch.cuda.synchronize(self._device)
        _move(self._own, (args, kwargs))
        torch.cuda.synchronize(self._device)
        return put(result)


def _rehearse(entry, args, kwargs):
    for _ in range(_REHEARSALS):
        own = _copies((args, kwargs))
        entry(*own[0], **own[1])
    torch.cuda.synchronize()


def _copies(arguments):
    """The arguments over memory of their own, strides and all."""
    return _pytree.tree_map(_copy, arguments)


def _copy(leaf):
    if not isinstance(leaf, torch.Tensor):
        return leaf
    made = torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype, device=leaf.device)
    return made.copy_(leaf)


def _poison(tensor):
    if tensor.numel() and tensor.is_contiguous():
        tensor.view(-1).view(torch.uint8).fill_(_POISON)


def _each(do, arguments):
    for leaf in _pytree.tree_leaves(arguments):
        if isinstance(leaf, torch.Tensor):
            do(leaf)


def _move(source, target):
    """Copies the tensors of one set of arguments to another; a call may have left out which of them it changes."""
    pairs = zip(_pytree.tree_leaves(source), _pytree.tree_leaves(target), strict=True)
    for one, other in pairs:
        if isinstance(one, torch.Tensor):
            other.copy_(one)
