"""Other weights for a module that is there already: both sides make the same ones of those they have.

A module that has folded its weights into something else when it was constructed, or left some out because they happened to be
ones or zeros, computes the old result with them.
"""

from collections.abc import Iterable

import torch

_CHUNK = 1 << 24
"""Elements changed at a time: parameters may be gigabytes, and little more than a copy of one is counted on. A multiple of 8."""


def shapes(named: Iterable[tuple[str, torch.Tensor]]) -> dict[str, list[int]]:
    """Shapes by name, of ``(name, parameter)`` pairs."""
    return {name: list(parameter.shape) for name, parameter in named}


def change(parameters: Iterable[torch.Tensor]) -> None:
    """Gives each floating-point parameter other values of about the same size, in place.

    Exact on every device: elements in the opposite order, each times one of eight factors around 1, plus 1/32, so that neither
    ones nor zeros stay what they are.
    """
    with torch.no_grad():
        for parameter in parameters:
            if parameter.is_floating_point():
                parameter.copy_(_changed(parameter))


def _changed(values: torch.Tensor) -> torch.Tensor:
    flat = values.reshape(-1).flip(0)
    factors = torch.arange(8, device=flat.device).to(flat.dtype).div_(16).add_(0.75)
    factors = factors.repeat(min(flat.numel(), _CHUNK) // 8 + 1)
    for chunk in flat.split(_CHUNK):
        chunk.mul_(factors[: chunk.numel()]).add_(0.03125)
    return flat.reshape(values.shape)
