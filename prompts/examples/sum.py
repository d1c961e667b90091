import torch
import triton
import triton.language as tl

CHUNK = 65536


@triton.jit
def sum_chunks(x_ptr, out_ptr, n, ACC: tl.constexpr, CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    row, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    end = tl.minimum((chunk + 1) * CHUNK, n)
    total = tl.zeros((BLOCK,), ACC)
    for start in range(chunk * CHUNK, end, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * n + columns, mask=columns < end, other=0).to(ACC)
    tl.store(out_ptr + row * tl.num_programs(1) + chunk, tl.sum(total, 0))


def sum(input, dim, keepdim=False, dtype=None):
    result_dtype = dtype or (input.dtype if input.dtype.is_floating_point else torch.int64)
    sum_dtype = result_dtype if result_dtype in (torch.float64, torch.int64) else torch.float32
    acc = {torch.float64: tl.float64, torch.int64: tl.int64, torch.float32: tl.float32}[sum_dtype]
    x = input.to(result_dtype)
    dims = sorted({d % x.dim() for d in ((dim,) if isinstance(dim, int) else dim)})
    kept = [d for d in range(x.dim()) if d not in dims]
    shape = [1 if d in dims else s for d, s in enumerate(x.shape) if keepdim or d not in dims]
    n = torch.Size(x.shape[d] for d in dims).numel()
    if not n:
        return x.new_zeros(shape)
    rows = x.permute(*kept, *dims).reshape(-1, n).contiguous()
    while True:
        n = rows.shape[1]
        sums = torch.empty((len(rows), triton.cdiv(n, CHUNK)), dtype=sum_dtype, device=x.device)
        if sums.numel():
            block = min(1024, triton.next_power_of_2(n))
            sum_chunks[sums.shape](rows, sums, n, ACC=acc, CHUNK=CHUNK, BLOCK=block)
        if sums.shape[1] == 1:
            return sums.to(result_dtype).view(shape)
        rows = sums
