"""Dispatch modes that do without torch.compile."""

from torch.utils._python_dispatch import TorchDispatchMode


class PlainMode(TorchDispatchMode):
    """A mode that torch does not wrap against torch.compile, which would import all of it; under such a mode nothing is compiled."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False
