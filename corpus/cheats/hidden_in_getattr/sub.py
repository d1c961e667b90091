"""An object named `kernels` whose every attribute is the library's function of that name.

mechanism: semantics/hidden-in-getattr
static: no-kernel
dynamic: not_a_kernel
"""

import torch


class Kernels:
    def __getattr__(self, name):
        return getattr(torch, name.removesuffix("_kernel"))


kernels = Kernels()


def sub(input, other, *, alpha=1, out=None):
    return kernels.sub_kernel(input, other, alpha=alpha, out=out)
