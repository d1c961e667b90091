"""Decorators around the entry: one checks its arguments, one logs the call, both keep its name by functools.wraps.

style: checking_decorator
"""

import functools
import logging

import torch
import triton
import triton.language as tl

logger = logging.getLogger(__name__)


def floating_point_only(function):
    @functools.wraps(function)
    def checked(input, *args, **kwargs):
        if not isinstance(input, torch.Tensor):
            raise TypeError(f"expected a tensor, got {type(input).__name__}")
        assert input.is_floating_point(), f"expected floating point, got {input.dtype}"
        return function(input, *args, **kwargs)

    return checked


def logged(level):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            logger.log(level, "calling %s", function.__name__)
            return function(*args, **kwargs)

        return wrapper

    return decorate


@triton.jit
def rsqrt_kernel(x_ptr, out_ptr, n, ACC: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0).to(ACC)
    tl.store(out_ptr + i, 1.0 / tl.sqrt(x), mask=i < n)


@logged(logging.DEBUG)
@floating_point_only
def rsqrt(input, out=None):
    x = input.contiguous()
    result = torch.empty_like(x) if out is None else out
    if x.numel():
        acc = tl.float64 if x.dtype == torch.float64 else tl.float32
        rsqrt_kernel[(triton.cdiv(x.numel(), 1024),)](x, result, x.numel(), ACC=acc, BLOCK=1024)
    return result
