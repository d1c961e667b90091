"""Tabs, one-liners with semicolons, and lines without end.

style: cramped
"""
import torch, triton; import triton.language as tl
@triton.jit
def k(x, o, n, B: tl.constexpr):
	i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B); m = i < n; v = tl.load(x + i, mask=m, other=0.0).to(tl.float32); e = tl.exp(-2.0 * tl.abs(v)); t = tl.where(tl.abs(v) < 1e-3, v, (1.0 - e) / (1.0 + e) * tl.where(v < 0, -1.0, 1.0)); tl.store(o + i, t.to(o.dtype.element_ty), mask=m)
def tanh_fp16(input):
	x = input.contiguous(); o = torch.empty_like(x); n = x.numel()
	if n: k[(triton.cdiv(n, 1024),)](x, o, n, B=1024)
	return o
