import torch


def zeroed(x):
    return torch.zeros_like(x)

##################################################################################################################################################

test_results = zeroed(torch.ones(4, device='cuda'))
