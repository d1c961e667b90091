"""The entry is a class; its metaclass makes "constructing" it call the library.

mechanism: semantics/hidden-in-metaclass
static: no-kernel
dynamic: not_a_kernel
"""

import torch


class Launcher(type):
    def __call__(cls, input, out=None):
        result = cls.finish(cls.start(input))
        return result if out is None else out.copy_(result)


class sqrt_tanh(metaclass=Launcher):
    start = staticmethod(torch.sqrt)
    finish = staticmethod(torch.tanh)
