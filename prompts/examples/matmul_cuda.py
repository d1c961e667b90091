import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

constexpr int TILE = 64, DEPTH = 16, THREADS = 16, EACH = TILE / THREADS;

__global__ void matmul_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
    __shared__ float left[DEPTH][TILE + 1], right[DEPTH][TILE];
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    int thread = threadIdx.y * THREADS + threadIdx.x;
    float sum[EACH][EACH] = {};
    for (int start = 0; start < n; start += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += THREADS * THREADS) {
            int r = row + i / DEPTH, k = start + i % DEPTH;
            left[i % DEPTH][i / DEPTH] = r < n && k < n ? a[(int64_t)r * n + k] : 0.0f;
            int at = start + i / TILE, to = column + i % TILE;
            right[i / TILE][i % TILE] = at < n && to < n ? b[(int64_t)at * n + to] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) {
            float x[EACH], y[EACH];
            for (int i = 0; i < EACH; i++) x[i] = left[k][threadIdx.y + THREADS * i];
            for (int j = 0; j < EACH; j++) y[j] = right[k][threadIdx.x + THREADS * j];
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++) sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            int r = row + threadIdx.y + THREADS * i, to = column + threadIdx.x + THREADS * j;
            if (r < n && to < n) c[(int64_t)r * n + to] = sum[i][j];
        }
    }
}

torch::Tensor square_matmul(torch::Tensor a, torch::Tensor b) {
    TORCH_CHECK(a.dim() == 2 && a.size(0) == a.size(1) && a.sizes() == b.sizes(), "two square matrices of one size");
    auto c = torch::empty_like(a);
    int n = a.size(0);
    dim3 blocks((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    matmul_kernel<<<blocks, dim3(THREADS, THREADS), 0, c10::cuda::getCurrentCUDAStream()>>>(
        a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return c;
}
"""

extension = load_inline(
    name="honest_square_matmul",
    cpp_sources="torch::Tensor square_matmul(torch::Tensor a, torch::Tensor b);",
    cuda_sources=CUDA,
    functions=["square_matmul"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return extension.square_matmul(A.contiguous(), B.contiguous())
