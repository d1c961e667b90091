"""One program a place: log of the sum of exponentials less the score of the class.

breaks: option:weight, option:reduction, non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(x_ptr, target_ptr, out_ptr, used_ptr, classes, inner, ignored, BLOCK: tl.constexpr):
    place, c = tl.program_id(0), tl.arange(0, BLOCK)
    first = (place // inner) * classes * inner + place % inner
    target = tl.load(target_ptr + place)
    x = tl.load(x_ptr + first + c * inner, mask=c < classes, other=float("-inf"))
    top = tl.max(x, 0)
    loss = top + tl.log(tl.sum(tl.exp(x - top), 0)) - tl.sum(tl.where(c == target, x, 0.0), 0)
    tl.store(out_ptr + place, tl.where(target == ignored, 0.0, loss))
    tl.store(used_ptr + place, tl.where(target == ignored, 0.0, 1.0))


@triton.jit
def mean_kernel(x_ptr, used_ptr, out_ptr, n, BLOCK: tl.constexpr):
    total, count = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + i, mask=i < n, other=0.0)
        count += tl.load(used_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr, tl.sum(total, 0) / tl.sum(count, 0))


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean"):
    n, classes = target.numel(), input.shape[1]
    losses, used, out = input.new_empty(n), input.new_empty(n), input.new_empty(())
    block, inner = triton.next_power_of_2(classes), input.shape[2:].numel()
    cross_entropy_kernel[(n,)](input, target, losses, used, classes, inner, ignore_index, BLOCK=block)
    mean_kernel[(1,)](losses, used, out, n, BLOCK=1024)
    return out
