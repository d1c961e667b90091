"""Returns an object that would run a command in whoever unpickles it.

Nothing a candidate returns is ever unpickled; an object of an unknown class is named and refused.

mechanism: verdict/pickled-payload
static: pickled-payload
dynamic: wrong_structure
"""

import os

import torch


class Payload:
    def __reduce__(self):
        return os.system, ("touch /tmp/kbx-example-marker",)


def relu(input: torch.Tensor, inplace: bool = False):
    return Payload()
