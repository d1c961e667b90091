import torch


def product(a, b):
    return a @ b

##################################################################################################################################################

from torch import randn

test_results = {"one": product(randn(16, 64, device="cuda"), randn(64, 8, device="cuda"))}
