"""One program copies the keys and the values of some tokens, in blocks of 16 bytes a thread."""

import triton
import triton.language as tl


@triton.jit
def append_kernel(k_ptr, v_ptr, k_cache, v_cache, slots_ptr, T, WIDTH, TOKENS: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    slot = tl.load(slots_ptr + token, mask=token < T, other=-1)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (slot >= 0)[:, None] & (i < WIDTH)[None, :]
    source = token[:, None].to(tl.int64) * WIDTH + i[None, :]
    target = slot[:, None] * WIDTH + i[None, :]
    k = tl.load(k_ptr + source, mask=mask)
    v = tl.load(v_ptr + source, mask=mask)
    tl.store(k_cache + target, k, mask=mask)
    tl.store(v_cache + target, v, mask=mask)


def kv_cache_append(k, v, k_cache, v_cache, slots):
    T, width = k.shape[0], k.shape[1] * k.shape[2]
    block = min(2048, triton.next_power_of_2(width))
    tokens = max(1, 1024 // block)
    append_kernel[triton.cdiv(T, tokens), triton.cdiv(width, block)](
        k, v, k_cache, v_cache, slots, T, width, TOKENS=tokens, BLOCK=block
    )
    return k_cache, v_cache
