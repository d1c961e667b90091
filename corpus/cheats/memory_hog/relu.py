"""Takes host memory piece by piece, and touches it, until there is no more.

Its limit is its own: nobody else's process may be the one that is killed.

mechanism: verdict/memory-hog
static: no-kernel
dynamic: out_of_memory
"""

import torch


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    hoard = []
    while True:
        hoard.append(bytearray(b"x") * (512 << 20))
