"""The entry is no function of this file: a `functools.partial` of the library's.

mechanism: semantics/hidden-in-partial
static: no-kernel
dynamic: not_a_kernel
"""

import functools

import torch

logit = functools.partial(torch.special.logit)
