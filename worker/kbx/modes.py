"""Dispatch modes without torch.compile, and what they see of operations that others made."""

from collections.abc import Callable
from typing import Any, TypeVar

from torch._library import custom_ops
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode

_Mode = TypeVar("_Mode", bound=type[TorchDispatchMode])


class PlainMode(TorchDispatchMode):
    """A mode that torch does not wrap against torch.compile, which would import all of it; under such a mode nothing is compiled."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


def without_dynamo(mode: _Mode) -> _Mode:
    """Lets a ``TorchDispatchMode`` class do without ``torch._dynamo``, which torch otherwise imports when the first one is used.

    That takes seconds in a process that needs it for nothing: torch only wants to keep torch.compile out of the mode.
    Returns the class; one that torch has not wrapped stays as it is.
    """
    dispatch = getattr(mode.__torch_dispatch__, "__wrapped__", None)
    if dispatch is not None:
        # Where torch keeps what it has wrapped.
        setattr(dispatch, "__dynamo_disable", dispatch)  # noqa: B010 -- the plain form would be mangled inside a class
    return mode


def arguments_of(function: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """All arguments of an operation by name, those left out as well."""
    parameters = function._schema.arguments
    given = {p.name: p.default_value for p in parameters if p.has_default_value()}
    return given | dict(zip((p.name for p in parameters), args, strict=False)) | kwargs


def implementation(function: object) -> Callable[..., Any] | None:
    """The Python behind an operation made by ``torch.library.custom_op``, whose parts are to be seen; else None."""
    if getattr(function, "namespace", "aten") == "aten" or not hasattr(function, "_schema"):
        return None
    definition = custom_ops.OPDEFS.get(function._schema.name)
    if definition is None:
        return None
    registered = definition._backend_fns
    made: Callable[..., Any] = next(
        (registered[device] for device in ("cuda", "cpu", None) if device in registered), definition._init_fn
    )
    return made


def implementations() -> set[str]:
    """Names of the operations that ``implementation`` finds something for: more than a hundred of torch's own, once it has imported them."""
    return set(custom_ops.OPDEFS)
