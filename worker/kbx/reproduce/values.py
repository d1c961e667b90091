"""Expressions that make arguments like given ones: the same shapes, dtypes and strides, and values of the same kind."""

from __future__ import annotations

import math
from typing import Any

import torch

_LITERAL = 64
"""Integers of a tensor up to which they are written as they are: offsets and block tables have a structure that no distribution has."""
_FEW = 3
"""Distinct values up to which each is one of these."""
_ENOUGH = 16
"""Elements from which a distribution shows."""
_UNIFORM, _OUTLIERS = 2.2, 25.0
"""Kurtosis: of uniform values 1.8, of normal ones 3, of those with outliers hundreds."""
_SOME = 0.1


def expression(value: Any) -> str:
    """Python that makes the like of a value; uses the functions of ``template.py``."""
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, torch.device):
        return "DEVICE"
    if isinstance(value, torch.Size):
        return f"torch.Size({list(value)})"
    if isinstance(value, tuple) and type(value) is tuple:
        inside = ", ".join(map(expression, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, list):
        return f"[{', '.join(map(expression, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {expression(each)}" for key, each in value.items()) + "}"
    return repr(value)


def _tensor(t: torch.Tensor) -> str:
    made = _values(t.detach())
    return made if t.is_contiguous() else f"laid_out({made}, {tuple(t.stride())})"


def _values(t: torch.Tensor) -> str:
    shape, dtype = tuple(t.shape), str(t.dtype)
    if t.numel() == 0:
        return f"torch.empty({shape}, dtype={dtype}, device=DEVICE)"
    if t.dtype == torch.bool:
        return f"booleans({shape}, {t.double().mean().item():.2g})"
    if t.is_complex():
        return f"torch.complex(normal({shape}, torch.float64), normal({shape}, torch.float64)).to({dtype})"
    if not t.is_floating_point():
        return _integers(t, shape, dtype)
    return _floats(t.double(), shape, dtype)


def _integers(t: torch.Tensor, shape: tuple[int, ...], dtype: str) -> str:
    if t.numel() <= _LITERAL:
        return f"torch.tensor({t.tolist()}, dtype={dtype}, device=DEVICE)"
    drawn = _whole(t, shape, dtype)
    in_order = t.ndim > 0 and t.shape[-1] > 1 and bool((t[..., 1:] >= t[..., :-1]).all())
    return f"{drawn}.sort(-1).values" if in_order else drawn


def _whole(t: torch.Tensor, shape: tuple[int, ...], dtype: str) -> str:
    """Integers of the same range, without duplicates where the tensor has none: indices, slots and pages are used once."""
    low, high = int(t.min()), int(t.max())
    if _are_distinct(t.reshape(-1)):
        return f"distinct({shape}, {dtype}, {low}, {high})"
    rest = t[t != t.min()]
    if 2 * rest.numel() >= t.numel() and _are_distinct(rest):
        return f"padded({shape}, {dtype}, {low}, {t.numel() - rest.numel()}, {int(rest.min())}, {high})"
    for dim in reversed(range(t.ndim)):
        if t.shape[dim] > 1 and _are_distinct(t.movedim(dim, -1)):
            return f"distinct({shape}, {dtype}, {low}, {high}, dim={dim})"
    return f"integers({shape}, {dtype}, {low}, {high})"


def _are_distinct(lines: torch.Tensor) -> bool:
    """Of several lines each for itself."""
    return bool((lines.sort(-1).values.diff(dim=-1) != 0).all())


def _floats(t: torch.Tensor, shape: tuple[int, ...], dtype: str) -> str:
    finite = t[t.isfinite()]
    special = t.numel() - finite.numel()
    if finite.numel() == 0:
        return f"with_special(torch.zeros({shape}, dtype={dtype}, device=DEVICE))"
    distinct = finite.unique() if finite.numel() >= 1 else finite
    if distinct.numel() == 1:
        made = f"torch.full({shape}, {_number(distinct[0])}, dtype={dtype}, device=DEVICE)"
    elif distinct.numel() <= _FEW and t.numel() >= _ENOUGH:
        made = f"chosen({shape}, {dtype}, [{', '.join(_number(v) for v in distinct)}])"
    elif t.numel() >= _ENOUGH and torch.equal(finite, finite.round()):
        made = _whole(finite if special else t, shape, dtype)
    else:
        made = _structured(t, shape, dtype) or _distributed(finite, shape, dtype)
    return f"with_special({made})" if special else made


def _structured(t: torch.Tensor, shape: tuple[int, ...], dtype: str) -> str | None:
    """Of probabilities and of matrices that are symmetric or triangular; None for others."""
    last = t.shape[-1] if t.ndim else 0
    if last > 1 and bool(t.isfinite().all()):
        if bool((t >= 0).all()) and torch.allclose(t.sum(-1), torch.ones(()).double(), atol=1e-2):
            return f"torch.softmax(normal({shape}, torch.float64), -1).to({dtype})"
        if bool((t <= 0).all()) and torch.allclose(t.exp().sum(-1), torch.ones(()).double(), atol=1e-2):
            return f"torch.log_softmax(normal({shape}, torch.float64), -1).to({dtype})"
    if t.ndim < 2 or t.shape[-2] != last or last < 2:
        return None
    if torch.allclose(t, t.mT, rtol=1e-4, atol=1e-6):
        return f"symmetric({shape}, {dtype})"
    for name, part in (("tril", t.tril()), ("triu", t.triu())):
        if torch.equal(part, t):
            return f"torch.{name}({_distributed(t[t != 0], shape, dtype)})"
    return None


def _distributed(finite: torch.Tensor, shape: tuple[int, ...], dtype: str) -> str:
    if bool((finite < 0).all()):
        return f"-{_distributed(-finite, shape, dtype)}"
    zeros = (finite == 0).double().mean().item()
    some = finite[finite != 0] if zeros > _SOME else finite
    low, high, mean = some.min().item(), some.max().item(), some.mean().item()
    std = some.std(correction=0).item()
    if std == 0 or some.numel() < _ENOUGH:
        made = f"normal({shape}, {dtype}{_scaled(0.0, max(abs(low), abs(high)), some)})"
    else:
        kurtosis = ((some - mean) / std).pow(4).mean().item()
        if kurtosis < _UNIFORM:
            return _with_zeros(f"uniform({shape}, {dtype}, {low:.3g}, {high:.3g})", zeros)
        outliers = ", outliers=True" if kurtosis > _OUTLIERS else ""
        usual = (some - mean).abs().median().item() / 0.6745 if outliers else std
        made = f"normal({shape}, {dtype}{_scaled(mean, usual, some)}{outliers})"
    return _with_zeros(made, zeros)


def _with_zeros(made: str, zeros: float) -> str:
    return f"with_zeros({made}, {zeros:.2g})" if zeros > _SOME else made


def _scaled(mean: float, std: float, some: torch.Tensor) -> str:
    """The arguments of ``normal`` that are not its defaults; values of one sign are its absolute values."""
    if bool((some > 0).all()):
        return f", std={max(some.square().mean().sqrt().item(), 1e-30):.2g}, low={max(some.min().item(), 0):.2g}"
    if some.numel() >= _ENOUGH and abs(mean) < 4 * std / math.sqrt(some.numel()):
        mean = 0.0
    parts = f", mean={mean:.2g}" if mean else ""
    return parts if abs(std - 1) < _SOME else f"{parts}, std={std:.2g}"


def _number(value: torch.Tensor) -> str:
    return repr(value.item())
