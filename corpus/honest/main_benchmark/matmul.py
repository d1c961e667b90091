"""A self test and a benchmark under `if __name__ == "__main__"`: events, torch.matmul, allclose, none of which runs here.

style: main_benchmark
"""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_outer, a_inner, a_m, a_k, b_outer, b_inner, b_k, b_n, inner,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Batch z is (z // inner, z % inner) of both operands, so that either may be broadcast in part."""
    z = tl.program_id(1).to(tl.int64)
    tiles_n = tl.cdiv(N, BN)
    m = (tl.program_id(0) // tiles_n * BM + tl.arange(0, BM)).to(tl.int64)
    n = (tl.program_id(0) % tiles_n * BN + tl.arange(0, BN)).to(tl.int64)
    a_ptr += z // inner * a_outer + z % inner * a_inner
    b_ptr += z // inner * b_outer + z % inner * b_inner
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * a_m + k[None, :] * a_k, mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        b = tl.load(b_ptr + k[:, None] * b_k + n[None, :] * b_n, mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(c_ptr + z * M * N + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


def matmul(tensor1, tensor2):
    a = tensor1[None] if tensor1.dim() == 1 else tensor1
    b = tensor2[:, None] if tensor2.dim() == 1 else tensor2
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    (M, K), N = a.shape[-2:], b.shape[-1]
    c = torch.empty((*batch, M, N), dtype=torch.float32, device=a.device)
    if c.numel():
        pair = (1,) * (2 - len(batch)) + batch
        a, b = a.expand(*pair, M, K), b.expand(*pair, K, N)
        grid = (triton.cdiv(M, 32) * triton.cdiv(N, 32), batch.numel())
        matmul_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), pair[1], BM=32, BN=32, BK=32)
    if tensor2.dim() == 1:
        c = c.squeeze(-1)
    return c.squeeze(-2 if tensor2.dim() > 1 else -1) if tensor1.dim() == 1 else c


def benchmark(fn, *args, repetitions=100):
    start = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    start.record()
    for _ in range(repetitions):
        fn(*args)
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / repetitions


if __name__ == "__main__":
    import sys
    import time

    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = torch.randn(512, 512, device="cuda"), torch.randn(512, 512, device="cuda")
    expected = torch.matmul(a, b)
    assert torch.allclose(matmul(a, b), expected, atol=1e-3), "wrong"
    torch.testing.assert_close(matmul(a, b), a @ b, atol=1e-3, rtol=1e-3)
    print(f"triton {benchmark(matmul, a, b):.3f} ms, torch {benchmark(torch.matmul, a, b):.3f} ms")
    print(triton.testing.do_bench(lambda: matmul(a, b)), time.perf_counter())
    sys.exit(0)
