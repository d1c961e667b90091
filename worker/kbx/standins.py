"""Classes of torch that take ``cuda`` for a device, for code that runs where there is none: they do on the CPU what was asked for.

The runner and the oracle share them, and so say the same of the same code.
"""

import torch


class Generator(torch.Generator):
    """A generator that may ask for a device; its numbers are the CPU's."""

    def __new__(cls, device="cpu"):
        return super().__new__(cls, device="cpu")


class Autocast(torch.autocast):
    """``torch.autocast`` on the CPU, where the tensors are, to the dtype that it would have on a GPU."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if device_type == "cuda":
            device_type, dtype = "cpu", dtype or torch.get_autocast_dtype("cuda")
        super().__init__(device_type, dtype, enabled, cache_enabled)


class CudaAutocast(Autocast):
    """``torch.cuda.amp.autocast``, whose first parameter is another."""

    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        super().__init__("cuda", dtype, enabled, cache_enabled)


# Messages name them as their users know them.
Autocast.__name__ = CudaAutocast.__name__ = "autocast"
