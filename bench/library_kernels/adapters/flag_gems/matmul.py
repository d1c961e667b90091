import torch
from flag_gems.ops.mm import general_mm


def product(a, b):
    m, k, n = *a.shape, b.shape[1]
    out = torch.empty((m, n), device=a.device, dtype=a.dtype)
    general_mm(a, b, out, m, n, k)
    return out


def kernel_function(tensor1, tensor2):
    if tensor1.dim() == 1 or tensor2.dim() == 1:
        left = tensor1.unsqueeze(0) if tensor1.dim() == 1 else tensor1
        right = tensor2.unsqueeze(1) if tensor2.dim() == 1 else tensor2
        out = kernel_function(left, right)
        out = out.squeeze(-2) if tensor1.dim() == 1 else out
        return out.squeeze(-1) if tensor2.dim() == 1 else out
    if tensor2.dim() == 2:
        rows = tensor1.reshape(-1, tensor1.shape[-1]).contiguous()
        return product(rows, tensor2.contiguous()).view(*tensor1.shape[:-1], tensor2.shape[1])
    shape = torch.broadcast_shapes(tensor1.shape[:-2], tensor2.shape[:-2])
    left = tensor1.expand(*shape, *tensor1.shape[-2:]).reshape(-1, *tensor1.shape[-2:]).contiguous()
    right = tensor2.expand(*shape, *tensor2.shape[-2:]).reshape(-1, *tensor2.shape[-2:]).contiguous()
    out = torch.empty((left.shape[0], left.shape[1], right.shape[2]), device=left.device, dtype=left.dtype)
    for i in range(left.shape[0]):
        out[i] = product(left[i], right[i])
    return out.view(*shape, *out.shape[1:])
