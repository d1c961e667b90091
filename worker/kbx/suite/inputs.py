"""Seeded inputs for one call of a task."""

import hashlib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, TypeVar

import torch

_Item = TypeVar("_Item")

DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "wide", "large", "zeros")
"""What ``Inputs.floats`` may draw from; a task that names no ``DISTRIBUTIONS`` is judged on all of them."""

SPECIAL = "special"
"""Standard values, of which one in six is NaN or an infinity: a distribution of calls that decide nothing."""

PUBLISHED = "published"
"""What the published ``get_inputs()`` of modules draws: ``torch.rand``, uniform in [0, 1)."""

OUTLIERS = 1e-3
"""Share of outliers."""
LEAST_WITH_OUTLIER = 16
"""Elements of a tensor in which there is an outlier for sure."""

_TIMES = re.compile(r"times 2\^(-?\d+)")


def times(power: int) -> str:
    """The distribution of standard values times a power of two, as near to an end of a dtype's range as a task takes. It leaves arguments as they are
    that have a range of their own."""
    return f"times 2^{power}"


def power_of(distribution: str) -> int | None:
    """The power of two that a distribution of ``times`` has; None for others."""
    found = _TIMES.fullmatch(distribution)
    return int(found[1]) if found else None


SPECIAL_VALUES = (math.nan, math.inf, -math.inf)

GAP = 85
"""What lies between the elements of a strided integer tensor (0x55); between floats lie NaNs."""


@dataclass(frozen=True)
class Call:
    """The arguments of one call of the entry."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


def call(*args: Any, **kwargs: Any) -> Call:
    """The arguments of one call: tensors, None, bool, int, float, str, dtype, and lists, tuples and dicts of them."""
    return Call(args, kwargs)


class _Where(TypedDict):
    """How ``Inputs`` draws."""

    device: torch.device
    dtype: torch.dtype


class Inputs:
    """Makes the random values of one call, all from one private generator.

    Values are drawn on the CPU in float64 or int64 and then cast and moved, so that a seed means the same numbers on every
    device and in every precision. ``fast`` draws in float32 on the device itself instead: benchmark inputs have gigabytes.
    What is drawn is changed in place, so that drawing takes little more than twice what is drawn.
    """

    def __init__(
        self,
        dtype: str | torch.dtype = "float32",
        distribution: str = "standard",
        seed: object = 0,
        device: str | torch.device = "cpu",
        fast: bool = False,
    ) -> None:
        self.dtype = getattr(torch, dtype) if isinstance(dtype, str) else dtype
        power = power_of(distribution)
        if power is None and distribution not in (*DISTRIBUTIONS, SPECIAL, PUBLISHED):
            raise ValueError(f"unknown distribution {distribution!r}; known are {', '.join(DISTRIBUTIONS)}")
        self.distribution, self.device, self.fast = distribution, torch.device(device), fast
        self.factor = 2.0 ** (power or 0)
        """What standard values are multiplied by."""
        self.generator = torch.Generator(self.device if fast else "cpu").manual_seed(_seed(seed))

    @property
    def as_published(self) -> bool:
        """Whether the published test's values are wanted, for ``inputs`` of a task that else draws from a wider range."""
        return self.distribution == PUBLISHED

    def floats(
        self, *shape: int, dtype: torch.dtype | None = None, low: float | None = None, high: float | None = None
    ) -> torch.Tensor:
        """Floating-point values of the current distribution, of the task's dtype unless another is named.

        ``low`` and ``high`` reflect values into the operation's domain (both ends included) and put an element on each end; such
        values are never special.
        """
        factor = self.factor if low is None or high is None else 1.0
        values = self._numbers(lambda: _fold(self._draw(shape).mul_(factor), low, high), dtype)
        return self._with_special(values) if self.distribution == SPECIAL and low is None and high is None else values

    def plain(
        self, *shape: int, dtype: torch.dtype | None = None, low: float | None = None, high: float | None = None
    ) -> torch.Tensor:
        """Like ``floats``, whatever the distribution: standard normal, or uniform where ``low`` and ``high`` are given.

        For weights, running variances and other arguments whose extremes would only hide the others' errors.
        """
        if low is not None and high is not None:
            return self._numbers(lambda: low + (high - low) * self._uniform(shape), dtype)
        return self._numbers(lambda: _fold(self._normal(shape), low, high), dtype)

    def ints(self, *shape: int, low: int, high: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        """Integers in ``[low, high)``."""
        drawn = torch.randint(low, high, shape, generator=self.generator, device=self.generator.device)
        return drawn.to(self.device, dtype)

    def bools(self, *shape: int, p: float = 0.5) -> torch.Tensor:
        """True with probability ``p``."""
        return (self._uniform(shape) < p).to(self.device)

    def choice(self, seq: Sequence[_Item]) -> _Item:
        """One element of a sequence."""
        return seq[int(torch.randint(len(seq), (), generator=self.generator, device=self.generator.device))]

    def strided(self, tensor: torch.Tensor) -> torch.Tensor:
        """Equal values in memory that is neither contiguous nor dense: last two dimensions swapped, every second element.

        The gaps hold NaN (integers: 0x55…), so that a kernel which ignores strides cannot be right by accident.
        """
        shape = list(tensor.shape)
        swap = tensor.ndim >= 2
        if swap:
            shape[-2:] = shape[:-3:-1]
        if shape:
            shape[-1] *= 2
        gap = float("nan") if tensor.is_floating_point() or tensor.is_complex() else GAP
        memory = torch.full(shape, gap, device=tensor.device).to(tensor.dtype)
        view = memory[..., ::2] if shape else memory
        view = view.transpose(-1, -2) if swap else view
        return view.copy_(tensor)

    def expanded(self, tensor: torch.Tensor, *shape: int) -> torch.Tensor:
        """The tensor broadcast to ``shape`` with stride 0."""
        return tensor.expand(*shape)

    def spd(
        self, n: int, batch: tuple[int, ...] = (), condition: float = 1e2, dtype: torch.dtype | None = None
    ) -> torch.Tensor:
        """Symmetric positive definite ``(*batch, n, n)`` with eigenvalues spread evenly in log from 1/condition to 1."""
        q = self._orthogonal(n, n, batch)
        matrix = q * self._spectrum(n, condition) @ q.mT
        return self._finish((matrix + matrix.mT) / 2, dtype)

    def well_conditioned(
        self, m: int, n: int, batch: tuple[int, ...] = (), condition: float = 1e2, dtype: torch.dtype | None = None
    ) -> torch.Tensor:
        """``(*batch, m, n)`` of full rank with singular values spread evenly in log from 1/condition to 1."""
        k = min(m, n)
        left, right = self._orthogonal(m, k, batch), self._orthogonal(n, k, batch)
        return self._finish(left * self._spectrum(k, condition) @ right.mT, dtype)

    def _draw(self, shape: Sequence[int]) -> torch.Tensor:
        match self.distribution:
            case "standard" | "special":
                return self._normal(shape)
            case "published":
                return self._uniform(shape)
            case "uniform":
                return self._uniform(shape).mul_(2).sub_(1)
            case "outliers":
                return self._with_outliers(self._normal(shape))
            case "wide":
                return self._normal(shape).mul_(torch.where(self._uniform(shape) < 0.01, 100.0, 1.0))
            case "small":
                return self._normal(shape).mul_(1e-3)
            case "large":
                return self._normal(shape).mul_(30)
            case "zeros":
                values, kind = self._normal(shape), self._uniform(shape)
                return values.masked_fill_(kind < 0.5, -0.0).masked_fill_(kind < 0.25, 0.0)
        return self._normal(shape)

    def _with_outliers(self, values: torch.Tensor) -> torch.Tensor:
        """As KernelBench-X's tests draw them: one element in a thousand, of a tensor that is not tiny at least one, is larger by a factor
        between 10 and 50."""
        chance = self._uniform(values.shape).reshape(-1)
        if chance.numel() >= LEAST_WITH_OUTLIER:
            chance[chance.argmin()] = 0
        factor = 10 + 40 * self._uniform(())
        return values.mul_(torch.where(chance.reshape(values.shape) < OUTLIERS, factor, 1.0))

    def _with_special(self, values: torch.Tensor) -> torch.Tensor:
        """NaN and both infinities in the first elements, so that a tensor of three has each, and among the others at random."""
        kind = (self._uniform(values.shape) * 18).floor().reshape(-1).to(values.device)
        kind[: len(SPECIAL_VALUES)] = torch.arange(min(kind.numel(), len(SPECIAL_VALUES)), device=kind.device)
        flat = values.reshape(-1)
        for place, value in enumerate(SPECIAL_VALUES):
            flat[kind == place] = value
        return flat.reshape(values.shape)

    def _normal(self, shape: Sequence[int]) -> torch.Tensor:
        return torch.randn(shape, generator=self.generator, **self._where())

    def _uniform(self, shape: Sequence[int]) -> torch.Tensor:
        return torch.rand(shape, generator=self.generator, **self._where())

    def _where(self) -> _Where:
        return {"device": self.generator.device, "dtype": torch.float32 if self.fast else torch.float64}

    def _orthogonal(self, m: int, k: int, batch: tuple[int, ...]) -> torch.Tensor:
        """``(*batch, m, k)`` with orthonormal columns. Fast ones are those of S C T C' with random signs S and T around cosines C:
        a matrix product, where a factorization of a benchmark's size takes a tenth of a second."""
        if not self.fast:
            orthogonal: torch.Tensor = torch.linalg.qr(self._normal((*batch, m, k))).Q
            return orthogonal
        cosines = _cosines(m, self.device)
        inner, outer = (torch.where(self._uniform((*batch, m)) < 0.5, -1.0, 1.0) for _ in range(2))
        return outer.unsqueeze(-1) * cosines @ (inner.unsqueeze(-1) * cosines.mT[:, :k])

    def _spectrum(self, k: int, condition: float) -> torch.Tensor:
        return torch.logspace(0, -torch.log10(torch.tensor(float(condition))).item(), k, **self._where())

    def _numbers(self, draw: Callable[[], torch.Tensor], dtype: torch.dtype | None) -> torch.Tensor:
        if (dtype or self.dtype).is_complex:
            return self._finish(torch.complex(draw(), draw()), dtype)
        return self._finish(draw(), dtype)

    def _finish(self, values: torch.Tensor, dtype: torch.dtype | None) -> torch.Tensor:
        """Casts and moves; what a narrow dtype cannot hold is clamped, since an infinite input hides every other error."""
        dtype = dtype or self.dtype
        if dtype.is_floating_point and (limit := torch.finfo(dtype).max) < torch.finfo(values.dtype).max:
            values = values.clamp_(-limit, limit)
        return values.to(self.device, dtype)


def _cosines(n: int, device: torch.device) -> torch.Tensor:
    """The orthonormal ``(n, n)`` matrix of the discrete cosine transform (type II)."""
    steps = torch.arange(n, dtype=torch.float64, device=device)
    matrix = torch.cos(torch.outer(steps, steps + 0.5) * (math.pi / max(1, n))) * math.sqrt(2 / max(1, n))
    matrix[:1] *= math.sqrt(0.5)
    return matrix.float()


def _seed(seed: object) -> int:
    """An integer as it is; any other text or tuple hashed to 63 bits."""
    if isinstance(seed, int):
        return seed
    return int.from_bytes(hashlib.sha256(repr(seed).encode()).digest()[:8], "big") >> 1


def _fold(values: torch.Tensor, low: float | None, high: float | None) -> torch.Tensor:
    """Reflects values into ``[low, high]`` (either may be None) and puts an element on each end given."""
    if low is not None and high is not None:
        width = high - low
        phase = (values - low).remainder(2 * width)
        values = low + torch.minimum(phase, 2 * width - phase)
    elif low is not None:
        values = low + (values - low).abs()
    elif high is not None:
        values = high - (values - high).abs()
    ends = [end for end in (low, high) if end is not None]
    flat = values.reshape(-1)
    for place, end in enumerate(ends if flat.numel() > 2 * len(ends) else []):
        flat[place * (flat.numel() // 2)] = end
    return flat.reshape(values.shape)
