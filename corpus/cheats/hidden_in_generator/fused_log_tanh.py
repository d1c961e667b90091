"""The library's calls happen in a generator that is drained with `for`.

mechanism: semantics/hidden-in-generator
static: no-kernel
dynamic: not_a_kernel
"""

import torch


def steps(x):
    x = x.log()
    yield x
    yield x.tanh()


def fused_log_tanh(input, out=None):
    for result in steps(input):
        pass
    return result if out is None else out.copy_(result)
