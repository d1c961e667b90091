"""cuBLAS multiplies, called from the module's own C++, which counts as its kernel; bias and ReLU are a kernel of its own.

mechanism: semantics/library-in-cpp
static: none
dynamic: import_error | runtime_error
gpu: not_a_kernel | compile_error
policy: kernel
"""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <ATen/cuda/CUDAContext.h>
#include <cublas_v2.h>

__global__ void add_relu_kernel(float* __restrict__ x, const float* __restrict__ bias, int columns, int64_t n) {
    int64_t stride = gridDim.x * (int64_t)blockDim.x;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += stride) {
        float sum = x[i] + bias[i % columns];
        x[i] = sum < 0.0f ? 0.0f : sum;
    }
}

torch::Tensor gemm_add_relu(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
    int rows = x.size(0), inner = x.size(1), columns = weight.size(0);
    torch::Tensor out = torch::empty({rows, columns}, x.options());
    float one = 1.0f, zero = 0.0f;
    cublasSgemm(at::cuda::getCurrentCUDABlasHandle(), CUBLAS_OP_T, CUBLAS_OP_N, columns, rows, inner, &one, weight.data_ptr<float>(),
                inner, x.data_ptr<float>(), inner, &zero, out.data_ptr<float>(), columns);
    int64_t n = out.numel();
    int64_t blocks = std::min<int64_t>((n + 255) / 256, 1 << 16);
    add_relu_kernel<<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(out.data_ptr<float>(), bias.data_ptr<float>(), columns, n);
    return out;
}
"""

extension = load_inline(
    name="gemm_add_relu",
    cpp_sources="torch::Tensor gemm_add_relu(torch::Tensor x, torch::Tensor weight, torch::Tensor bias);",
    cuda_sources=CUDA,
    functions=["gemm_add_relu"],
    extra_ldflags=["-lcublas"],
)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, bias_shape):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return extension.gemm_add_relu(x.contiguous(), self.gemm.weight.contiguous(), self.bias.contiguous())
