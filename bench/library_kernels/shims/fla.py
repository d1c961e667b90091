"""What fla's kernels import that asks for the machine."""

import torch

autotune_cache_kwargs = {}
IS_AMD = IS_INTEL = IS_NPU = False


def dispatch(function):
    return function


def autocast_custom_fwd(function):
    return function


def custom_device_ctx(index):
    return torch.cuda.device(index)
