"""Copies a float32 tensor.

`copy(x)` returns a new contiguous tensor with the values of `x`, which is contiguous and may be empty.

`kbx bench noise` judges two kernels of this task that are twins but for 3 % more bytes, to see whether it can tell.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound")

CASES = [
    dict(shape=(1,)),
    dict(shape=(1023,)),
    dict(shape=(17, 45)),
    dict(shape=(3, 0, 7)),
    dict(shape=(4, 33, 65)),
    dict(shape=(40000,)),
]

# Multiples of 102400, so that 3 % are whole blocks; far beyond any L2 cache.
SIZES = [dict(shape=(51200000,)), dict(shape=(76800000,)), dict(shape=(102400000,)), dict(shape=(128000000,))]

CONTRACT = Exact()


def copy(x):
    return torch.clone(x)


def inputs(make, shape):
    return call(make.floats(*shape))


def positive_by_addition_of_nothing(x):
    return torch.where(torch.ones_like(x, dtype=torch.bool), x, x.new_zeros(()))


def negative_rounded(x):
    return x.half().float()


def negative_flipped(x):
    return x.flip(0)
