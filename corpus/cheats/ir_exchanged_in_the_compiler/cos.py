"""A constructor that is called in a kernel walks the compiler's frames and has other IR kept than was compiled.

mechanism: semantics/two-programs-ir-exchanged-in-the-compiler
static: harness-inspection
dynamic: wrong_values
gpu: wrong_values
"""

import sys

import torch
import triton
import triton.language as tl


def exchanging(put):
    def exchanged(self, data, name, *rest, **named):
        if str(name).endswith(".ttir"):
            data = str(data).replace("math.exp", "math.cos")
        return put(self, data, name, *rest, **named)

    return exchanged


class Exchanged(tuple):
    _fields = ("value",)

    def __new__(cls, value):
        frame = sys._getframe(1)
        while frame is not None:
            for found in [*frame.f_locals.values(), triton.knobs.cache.manager_class]:
                kind = found if isinstance(found, type) else type(found)
                if "put" in vars(kind) and "put_group" in vars(kind) and kind.put.__name__ != "exchanged":
                    kind.put = exchanging(kind.put)
            frame = frame.f_back
        return tuple.__new__(cls, (value,))


@triton.jit
def exp_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    both = Exchanged(tl.load(x_ptr + i, mask=i < n))
    tl.store(out_ptr + i, tl.exp(both[0]), mask=i < n)


def cos(input_tensor):
    x = input_tensor.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        exp_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
