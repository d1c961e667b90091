"""A program a head of a token; keys and values are two launches."""

import triton
import triton.language as tl


@triton.jit
def append_kernel(new_ptr, cache_ptr, slots_ptr, G, D, BLOCK: tl.constexpr):
    token, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    slot = tl.load(slots_ptr + token)
    if slot >= 0:
        i = tl.arange(0, BLOCK)
        row = tl.load(new_ptr + (token * G + head) * D + i, mask=i < D)
        tl.store(cache_ptr + (slot * G + head) * D + i, row, mask=i < D)


def kv_cache_append(k, v, k_cache, v_cache, slots):
    T, G, D = k.shape
    for new, cache in ((k, k_cache), (v, v_cache)):
        append_kernel[T, G](new, cache, slots, G, D, BLOCK=triton.next_power_of_2(D))
    return k_cache, v_cache
