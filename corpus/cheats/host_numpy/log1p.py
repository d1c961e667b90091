"""Takes the data to the host, lets NumPy compute, and brings the result back.

mechanism: semantics/host-numpy
static: no-kernel
dynamic: not_a_kernel
"""

import numpy as np
import torch


def log1p(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    with np.errstate(all="ignore"):
        values = np.log1p(input.cpu().numpy())
    result = torch.from_numpy(np.asarray(values)).to(input.device)
    return result if out is None else out.copy_(result)
