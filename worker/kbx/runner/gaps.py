"""Features that a candidate needs and this machine lacks: raised as an exception, and recorded, since a candidate may catch it.

A candidate that continues without a kernel of its own behaves differently from a run on a GPU, and would be told that it has none. Where it
has something in place of the feature (``kbx.runner.gaps.optional``), that is judged. Either way it counts as judged: one that is wrong
could otherwise ask for such a feature in order to be left out.
"""

import traceback
import weakref
from typing import NamedTuple

_noted = weakref.WeakSet()
_first = None


class Unsupported(Exception):
    """A feature, named ``feature``, that needs a GPU."""

    def __init__(self, feature):
        super().__init__(f"not supported without a GPU: {feature}")
        self.feature = feature


class Unavailable(Unsupported):
    """This machine cannot compile C++, or cannot run the result; the message says why."""

    def __init__(self, message):
        Exception.__init__(self, message)
        self.feature = None


class Gap(NamedTuple):
    """A gap that was raised. ``stack``: ``FrameSummary`` of its frames, outermost first."""

    exception: str
    message: str
    feature: str | None
    stack: list


def noted(error):
    """Records ``error``, which kbx is about to raise."""
    global _first
    optional(error)
    # Not the exception, which would keep alive what its frames hold.
    if _first is None:
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        _first = Gap(name, str(error), error.feature, traceback.extract_stack()[:-1])
    return error


def optional(error):
    """Tells ``error``, which kbx is about to raise, from one of a candidate's. A candidate that catches it is judged by what it does then."""
    _noted.add(error)
    return error


def first():
    """The first recorded gap, or None."""
    return _first


def find(causes):
    """The first of ``causes`` that kbx raised for a gap, or None: a candidate may raise these types itself."""
    return next((e for e in causes if isinstance(e, Unsupported) and e in _noted), None)
