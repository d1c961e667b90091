"""PyTorch's fake tensors, which have shapes and no values: what a reference does with them is known without computing anything."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NoReturn

from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)

from kbx.oracle.task import InvalidTask


class _MemoryNeeded(Exception):
    """A fake tensor was asked for its memory."""


_LACKING = (
    DataDependentOutputException, DynamicOutputShapeException, UnsupportedOperatorException, UnsupportedFakeTensorException,
    _MemoryNeeded,
)  # fmt: skip
_IN_CPP = "erroneously tracing into a custom kernel"
"""What PyTorch says, in an error of no type of its own, to C++ that reads the memory of a fake tensor."""
_READERS = ("__array__", "__dlpack__", "numpy")


def needs_values(error: InvalidTask) -> bool:
    """Whether a function failed on fake tensors because it has to look at values."""
    cause = error.__cause__
    return isinstance(cause, _LACKING) or (isinstance(cause, RuntimeError) and _IN_CPP in str(cause))


@contextlib.contextmanager
def fake_tensors() -> Iterator[None]:
    """Tensors made meanwhile are fake ones, which refuse to show their memory: through DLPack it would be read at address 0."""

    def refuse(self: FakeTensor, *args: Any, **kwargs: Any) -> NoReturn:
        raise _MemoryNeeded("memory without values")

    before = {name: vars(FakeTensor).get(name) for name in _READERS}
    for name in _READERS:
        setattr(FakeTensor, name, refuse)
    try:
        with FakeTensorMode(allow_non_fake_inputs=True):
            yield
    finally:
        for name, method in before.items():
            if method is None:
                delattr(FakeTensor, name)
            else:
                setattr(FakeTensor, name, method)
