"""Candidates that are modules: a class becomes an instance of it before anything is called."""

import torch

from kbx import state, tensors

# Taken before any candidate is loaded.
_named_parameters = torch.nn.Module.named_parameters


def construct(kind, module, device):
    """An instance of ``kind`` on ``device``, and how to call it without gradients; ``module`` as in ``messages.Opened``.

    Its weights are from the seed that the reference's are from: made on the CPU, in the order that the class makes them.
    """
    init = [tensors.decode(tree, None) for tree in module["init"]]
    torch.manual_seed(module["seed"])
    with torch.no_grad():
        made = kind(*init).to(device)
    return made, torch.no_grad()(made)


def take_state(made, shapes):
    """Changes the parameters of an instance if they have these shapes, by name; whether they do. Whatever else it is, no."""
    if not isinstance(made, torch.nn.Module):
        return False
    named = list(_named_parameters(made))
    if state.shapes(named) != shapes:
        return False
    state.change([parameter for _, parameter in named])
    return True
