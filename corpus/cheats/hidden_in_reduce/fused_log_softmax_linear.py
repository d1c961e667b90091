"""Follows dotted names with `functools.reduce(getattr, …)`.

mechanism: semantics/hidden-in-reduce
static: no-kernel
dynamic: not_a_kernel
"""

import functools

import torch


def stage(path):
    return functools.reduce(getattr, path.split("/"), torch)


linear, normalize = stage("nn/functional/linear"), stage("nn/functional/log_softmax")


def fused_log_softmax_linear(input, weight, bias=None, dim=-1, dtype=None):
    return normalize(linear(input, weight, bias), dim=dim, dtype=dtype)
