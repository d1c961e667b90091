"""Library functions as attributes of a configuration class, under the names of tuning parameters.

mechanism: semantics/hidden-in-class
static: no-kernel
dynamic: not_a_kernel
"""

import torch


class Config:
    BLOCK_M, BLOCK_N = torch.log, torch.softmax
    num_warps = 4


def fused_softmax_log(input, dim=-1, dtype=None):
    return Config.BLOCK_N(Config.BLOCK_M(input), dim, dtype=dtype)
