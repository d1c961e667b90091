"""Candidates that are modules: a class becomes an instance of it before anything is called."""

import torch

from kbx import tensors


def construct(kind, module, device):
    """An instance of ``kind`` on ``device``, to be called without gradients; ``module`` as in ``messages.Opened``.

    Its weights are from the seed that the reference's are from: made on the CPU, in the order that the class makes them.
    """
    init = [tensors.decode(tree, None) for tree in module["init"]]
    torch.manual_seed(module["seed"])
    with torch.no_grad():
        made = kind(*init).to(device)
    return torch.no_grad()(made)
