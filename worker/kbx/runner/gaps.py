"""Features that a candidate needs and this machine lacks: raised as an exception, and recorded, since a candidate may catch it.

A candidate that goes on without what a GPU would have given it is another candidate. Remembering is order, not defence: this
process runs the candidate, so on the CPU a gap is a claim that nobody checks. With a GPU the referee knows better.
"""

import traceback
import weakref
from typing import NamedTuple

_noted = weakref.WeakSet()
_first = None


class Unsupported(Exception):
    """What has no GPU cannot do this; ``feature`` names it. Never the candidate's fault."""

    def __init__(self, feature):
        super().__init__(f"not supported by the CPU interpreter: {feature}")
        self.feature = feature


class Unavailable(Unsupported):
    """This machine cannot compile C++, or not run what it has compiled; the message says it all."""

    def __init__(self, message):
        Exception.__init__(self, message)
        self.feature = None


class Gap(NamedTuple):
    """One that was raised. ``stack``: ``FrameSummary`` of the frames at that time, outermost first."""

    exception: str
    message: str
    feature: str | None
    stack: list


def noted(error):
    """``error``, which kbx is about to raise itself, remembered."""
    global _first
    _noted.add(error)
    # Not the exception, which would keep alive what its frames hold.
    if _first is None:
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        _first = Gap(name, str(error), error.feature, traceback.extract_stack()[:-1])
    return error


def first():
    """The gap that this process met first, or None."""
    return _first


def find(causes):
    """The first of ``causes`` that kbx raised for a gap, or None: a candidate may raise these types itself."""
    return next((e for e in causes if isinstance(e, Unsupported) and e in _noted), None)
