"""What the published tests say of a result, beside what kbx says: they compare by constants, quantization by its distance from the
unquantized result.

KernelBench-X's metadata gives the thresholds of its six tasks of quantization, and states that their expected result is that of
the floating-point operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F

from kbx.suite.contracts import Close, Contract, Exact
from kbx.suite.original import OriginalRules, Tolerances
from kbx.suite.quantized import Schemes

TIGHT = {"cosine_sim": 0.95, "l1_relative": 0.05, "rmse": 0.1}
WIDE = {"cosine_sim": 0.9, "l1_relative": 0.1, "rmse": 0.15}


def _attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores.softmax(-1) @ value


def _product(input: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return input @ weight


def _layer_norm(
    input: torch.Tensor,
    normalized_shape: int | Sequence[int],
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    eps: float = 1e-5,
) -> torch.Tensor:
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    return F.layer_norm(input, shape, weight, bias, eps)


UNQUANTIZED: dict[str, tuple[Callable[..., torch.Tensor], dict[str, float]]] = {
    "attention_w8a8": (_attention, WIDE),
    "bmm_w8a8": (torch.bmm, TIGHT),
    "conv2d_w8a8": (F.conv2d, TIGHT),
    "layernorm_w8a8": (_layer_norm, TIGHT),
    "linear_w4a16": (F.linear, WIDE),
    "matmul_w8a8": (_product, TIGHT),
}
"""By task: the operation whose result is expected, and the thresholds."""


def rule(name: str, contract: Contract, tolerances: Tolerances) -> OriginalRules | None:
    """The published rule for the results of a task of this name, with its suite's ``tolerances``; None where ``contract`` takes its
    place: random results, and answers of which several are right.
    """
    if isinstance(contract, OriginalRules):
        return contract
    if isinstance(contract, (Close, Exact)):
        return OriginalRules(strides=contract.strides, tolerances=tolerances)
    if isinstance(contract, Schemes) and name in UNQUANTIZED:
        unquantized, thresholds = UNQUANTIZED[name]
        return OriginalRules(thresholds, strides=contract.strides, against=unquantized)
    return None
