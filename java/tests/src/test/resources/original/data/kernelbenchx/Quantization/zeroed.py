def zeroed(x):
    return x - x.mean()

##################################################################################################################################################

import torch

test_results = [zeroed(torch.ones(4, device='cuda')), zeroed(torch.randn(500, device='cuda'))]
