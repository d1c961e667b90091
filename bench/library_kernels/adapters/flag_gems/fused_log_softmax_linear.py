import torch
from flag_gems.ops.add import add
from flag_gems.ops.log_softmax import log_softmax
from flag_gems.ops.mm import general_mm


def kernel_function(input, weight, bias=None, dim=-1, dtype=None):
    rows = input.reshape(-1, input.shape[-1]).contiguous()
    m, k, n = *rows.shape, weight.shape[0]
    scores = torch.empty((m, n), device=input.device, dtype=input.dtype)
    general_mm(rows, weight.t(), scores, m, n, k)
    scores = scores.view(*input.shape[:-1], n)
    scores = scores if bias is None else add(scores, bias)
    return log_softmax(scores if dtype is None else scores.to(dtype), dim)
