"""Turns `torch.cuda.synchronize` and the streams' into nothing, so that a clock stops before the work; the work is wrong too.

mechanism: verdict/patched-synchronize
static: patched-timer
dynamic: wrong_values
"""

import torch


def nothing(*args, **kwargs):
    return None


torch.cuda.synchronize = nothing
for kind in (torch.cuda.Stream, torch.cuda.Event):
    kind.synchronize = nothing


def cos(input_tensor):
    return torch.ones_like(input_tensor)
