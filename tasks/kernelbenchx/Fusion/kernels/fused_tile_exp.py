"""One program computes one block of the result and finds each element's source by remainders, one per dimension.

Dimensions that are not repeated are merged with the one before them, so that as a rule one or two remainders are left.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_exp_kernel(x_ptr, out_ptr, n, S0, S1, S2, S3, T1, T2, T3, DIMS: tl.constexpr, BLOCK: tl.constexpr):
    """``S``: sizes of the input; ``T``: sizes of the result, of which the first is not needed."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    if DIMS == 1:
        source = i % S3
    else:
        source = i % T3 % S3
        i2 = i // T3
        if DIMS == 2:
            source += i2 % S2 * S3
        else:
            source += i2 % T2 % S2 * S3
            i1 = i2 // T2
            source += i1 % T1 % S1 * S2 * S3
            source += i1 // T1 % S0 * S1 * S2 * S3
    tl.store(out_ptr + i, tl.exp(tl.load(x_ptr + source, mask=mask, other=0.0)), mask=mask)


def merged(sizes, times):
    """The same tiling with fewer dimensions: of neighbours of which the second is not repeated one is made."""
    pairs = []
    for size, time in zip(sizes, times, strict=True):
        if pairs and time == 1:
            pairs[-1] = (pairs[-1][0] * size, pairs[-1][1])
        elif size != 1 or time != 1:
            pairs.append((size, time))
    return pairs or [(1, 1)]


def fused_tile_exp(input, dims, *, out=None):
    rank = max(input.dim(), len(dims))
    sizes = [1] * (rank - input.dim()) + list(input.shape)
    times = [1] * (rank - len(dims)) + list(dims)
    if out is None:
        shape = [size * time for size, time in zip(sizes, times, strict=True)]
        out = torch.empty(shape, dtype=input.dtype, device=input.device)
    n = out.numel()
    if n:
        pairs = merged(sizes, times)
        if len(pairs) > 4:
            # rare: lay out the trailing dimensions first, so that the first four are left
            head = [1] * 4 + [time for _, time in pairs[4:]]
            input = input.reshape([size for size, _ in pairs]).tile(head)
            pairs = merged(input.shape, [time for _, time in pairs[:4]] + [1] * (len(pairs) - 4))
        padded = [(1, 1)] * (4 - len(pairs)) + pairs
        sizes = [size for size, _ in padded]
        wide = [size * time for size, time in padded]
        tile_exp_kernel[(triton.cdiv(n, 2048),)](
            input.contiguous(), out, n, *sizes, *wide[1:], DIMS=min(len(pairs), 3), BLOCK=2048, num_warps=8
        )
    return out
