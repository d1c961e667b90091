import torch


def adam_step(param, grad, lr=0.1):
    weight = torch.nn.Parameter(param.clone())
    weight.grad = grad.clone()
    torch.optim.Adam([weight], lr=lr).step()
    return weight.detach()

##################################################################################################################################################

gradients = torch.randn(3, 40, device="cuda")
test_results = [adam_step(torch.randn(40, device="cuda"), gradient) for gradient in gradients]
