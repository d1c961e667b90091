"""Dispatch modes without torch.compile."""


def without_dynamo(mode):
    """Lets a ``TorchDispatchMode`` class do without ``torch._dynamo``, which torch otherwise imports when the first one is used.

    That takes seconds in a process that needs it for nothing: torch only wants to keep torch.compile out of the mode.
    Returns the class; one that torch has not wrapped stays as it is.
    """
    dispatch = getattr(mode.__torch_dispatch__, "__wrapped__", None)
    if dispatch is not None:
        # Where torch keeps what it has wrapped.
        setattr(dispatch, "__dynamo_disable", dispatch)  # noqa: B010 -- the plain form would be mangled inside a class
    return mode
