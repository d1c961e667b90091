"""Which references need every byte of their arguments: for those, memory sets a limit that no kernel can beat."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_READ_WHOLE = frozenset((
    "sum", "mean", "prod", "amax", "amin", "max", "min", "argmax", "argmin", "std", "var", "var_mean", "std_mean", "logsumexp",
    "linalg_vector_norm", "_softmax", "_log_softmax", "native_layer_norm", "native_group_norm",
    "mm", "bmm", "addmm", "baddbmm", "mv", "addmv", "dot",
    "copy_", "_to_copy", "empty", "empty_like", "view", "_unsafe_view", "reshape", "permute", "transpose", "t",
    "unsqueeze", "squeeze", "detach", "alias",
))  # fmt: skip
"""Operations beside the element-wise ones whose result depends on each element of their arguments, and moves of whole tensors.
What picks (index, gather, slice, embedding), repeats (expand, repeat) or skips (tril, convolution, pooling) is not here."""


class WholeReads(TorchDispatchMode):
    """Watches operations; ``whole`` stays True while each of them needs all of its arguments."""

    def __init__(self):
        super().__init__()
        self.whole = True

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        self.whole &= torch.Tag.pointwise in function.tags or name in _READ_WHOLE
        return function(*args, **(kwargs or {}))
