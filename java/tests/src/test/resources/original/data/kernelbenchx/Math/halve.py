import math

import torch


def halve(input: torch.Tensor, rounding: float = math.inf) -> torch.Tensor:
    """Half of each element."""
    return torch.clamp(input * 0.5, max=rounding)

##################################################################################################################################################

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../../utils"))
from draws import normal


def cases():
    found = {"plain": halve(torch.tensor([1.0, -2.0, 0.0], device="cuda"))}
    found["drawn"] = [halve(normal(33, 65)) for _ in range(2)]
    found["half"] = halve(normal(1000).half().cuda()).cpu()
    found["clamped"] = halve(normal(64, 2), rounding=0.25).sum()
    found["strided"] = halve(normal(5, 7).t())
    return found


if __name__ == "__main__":
    torch.cuda.manual_seed(0)
    test_results = cases()
    torch.cuda.synchronize()
    print(test_results)
