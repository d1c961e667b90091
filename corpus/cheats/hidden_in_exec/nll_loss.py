"""Source text in pieces, joined and executed: no library function appears by name.

mechanism: semantics/hidden-in-exec
source: kernelgenbench
static: hidden-code
dynamic: not_a_kernel
"""

import torch

PIECES = ["def nll_loss(input, target, weight=None, ignore_index=-100, reduction='mean'):\n"]
PIECES += ["    run = torch.nn.functional.nll", "_loss\n"]
PIECES += ["    return run(input, target, weight, ignore_index=ignore_index, reduction=reduction)\n"]

exec("".join(PIECES), {"torch": torch}, globals())
