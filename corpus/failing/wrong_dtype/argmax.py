"""Right positions as int32 where int64 is due. Must end as `wrong_dtype`."""

import torch
import triton
import triton.language as tl


@triton.jit
def argmax_rows(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=-float("inf"))
    tl.store(out_ptr + row, tl.argmax(x, 0))


def argmax(input_tensor, dim, keepdim=False):
    x = input_tensor.flatten() if dim is None else input_tensor.movedim(dim, -1)
    out = torch.empty(x.shape[:-1], dtype=torch.int32, device=x.device)
    if out.numel():
        argmax_rows[(out.numel(),)](x.contiguous(), out, x.shape[-1], BLOCK=triton.next_power_of_2(x.shape[-1]))
    if keepdim:
        return out.reshape([1] * input_tensor.dim()) if dim is None else out.unsqueeze(dim)
    return out
