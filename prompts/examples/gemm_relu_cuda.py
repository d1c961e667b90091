import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

__global__ void add_relu_kernel(float* __restrict__ x, const float* __restrict__ bias, int columns, int64_t n) {
    int64_t stride = gridDim.x * (int64_t)blockDim.x;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += stride) {
        float sum = x[i] + bias[i % columns];
        x[i] = sum < 0.0f ? 0.0f : sum;
    }
}

void add_relu_(torch::Tensor x, torch::Tensor bias) {
    int64_t n = x.numel();
    if (n == 0) return;
    int64_t blocks = std::min<int64_t>((n + 255) / 256, 1 << 16);
    add_relu_kernel<<<blocks, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), bias.data_ptr<float>(), x.size(-1), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}
"""

extension = load_inline(
    name="honest_add_relu",
    cpp_sources="void add_relu_(torch::Tensor x, torch::Tensor bias);",
    cuda_sources=CUDA,
    functions=["add_relu_"],
)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, bias_shape):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.gemm(x).contiguous()
        extension.add_relu_(x, self.bias)
        return x
