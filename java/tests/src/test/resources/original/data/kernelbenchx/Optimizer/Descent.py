def descent_step(param, grad, lr=0.1):
    param.sub_(grad, alpha=lr)
    return param

##################################################################################################################################################

import torch

param, grad = torch.randn(40, 30, device="cuda"), torch.randn(40, 30, device="cuda")
test_results = [descent_step(param.clone(), grad), descent_step(param.clone(), grad, lr=0.5)]
