import torch


def undefined(x):
    return x / x

##################################################################################################################################################

test_results = undefined(torch.zeros(4, device='cuda'))
