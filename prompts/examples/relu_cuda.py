import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

// NaN stays NaN, as it does in PyTorch.
__device__ __forceinline__ float relu(float x) { return x < 0.0f ? 0.0f : x; }

__global__ void relu_kernel(const float* __restrict__ x, float* __restrict__ y, int64_t n, bool aligned) {
    int64_t first = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    int64_t stride = gridDim.x * (int64_t)blockDim.x;
    int64_t quads = aligned ? n / 4 : 0;
    for (int64_t i = first; i < quads; i += stride) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        reinterpret_cast<float4*>(y)[i] = make_float4(relu(v.x), relu(v.y), relu(v.z), relu(v.w));
    }
    for (int64_t i = 4 * quads + first; i < n; i += stride) y[i] = relu(x[i]);
}

torch::Tensor relu_forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int64_t n = x.numel();
    if (n == 0) return y;
    bool aligned = (reinterpret_cast<uintptr_t>(x.data_ptr()) | reinterpret_cast<uintptr_t>(y.data_ptr())) % 16 == 0;
    int64_t blocks = std::min<int64_t>((n + 1023) / 1024, 1 << 16);
    relu_kernel<<<blocks, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, aligned);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""

extension = load_inline(
    name="honest_relu",
    cpp_sources="torch::Tensor relu_forward(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["relu_forward"],
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return extension.relu_forward(x.contiguous())
