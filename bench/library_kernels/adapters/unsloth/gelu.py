import torch
from unsloth.kernels.geglu import geglu_approx_forward_kernel, geglu_exact_forward_kernel


def kernel_function(input, approximate="none"):
    rows = input.contiguous().view(1, 1, -1)
    forward = geglu_exact_forward_kernel if approximate == "none" else geglu_approx_forward_kernel
    return forward(rows, torch.ones_like(rows)).view(input.shape)
