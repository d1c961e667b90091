"""Tasks of the originals: which file one is, and the rules that the authors of KernelBench-X and KernelBench judge by.

``kbx tasks import`` writes task files that hold an ``Original``, which ``kbx.oracle.recording`` runs, or an ``OriginalModel``, for
``kbx.oracle.original_models``; ``kbx eval --reference`` writes one that holds an ``OwnModel`` or ``OwnFunction``, for
``kbx.oracle.own_references``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
import torch.nn.functional as F

from kbx.suite import errors
from kbx.suite.contracts import Contract, Outcome
from kbx.suite.inputs import Call
from kbx.suite.values import leaves

Tolerances: TypeAlias = dict[torch.dtype, float]

TOLERANCES = {torch.float16: 5e-3, torch.bfloat16: 5e-3, torch.float32: 1e-5, torch.float64: 1e-5}
"""KernelBench-X's, both relative and absolute, by dtype; every other dtype must be equal."""
MODULE_TOLERANCES = {torch.float16: 1e-2, torch.bfloat16: 1e-2, torch.float32: 1e-4, torch.float64: 1e-4}
"""KernelBench's."""
LEAST_COSINE, MOST_L1, MOST_RMSE = 0.99, 0.01, 0.01
"""What holds of thresholds that a task's metadata does not name."""


@dataclass(frozen=True, eq=False)
class Original:
    """An original task file, read where it lies. ``sha256`` is its state when it was imported.

    ``thresholds`` is the metadata's ``precision_thresholds`` (``cosine_sim, l1_relative, rmse``), where it has them.
    """

    file: str
    sha256: str
    thresholds: dict[str, float] | None = None

    CHANGED = "the original file has changed since it was imported; import its checkout again"


@dataclass(frozen=True, eq=False)
class OriginalModel:
    """A task file of the original KernelBench, read where it lies. ``sha256`` is its state when it was imported."""

    file: str
    sha256: str

    CHANGED = Original.CHANGED

    def digests(self) -> dict[str, str]:
        """The SHA-256 of each file that the task rests on."""
        return {self.file: self.sha256}

    def defaults(self) -> dict[str, Callable[[], list[Any]]]:
        """Functions that stand in for those that the file may leave out, by name."""
        return {}


@dataclass(frozen=True, eq=False)
class OwnModel(OriginalModel):
    """The same as a user's own reference, of ``kbx eval --reference``: it need not have ``get_init_inputs()``. ``imported`` are the
    files beside it that it imports, with their SHA-256."""

    imported: dict[str, str] = field(default_factory=dict)
    backward: bool = False
    """Whether its gradients are the task."""

    CHANGED = "the reference has changed since the command began; give the command again"

    def digests(self) -> dict[str, str]:
        return {self.file: self.sha256} | self.imported

    def defaults(self) -> dict[str, Callable[[], list[Any]]]:
        return {"get_init_inputs": list_nothing}


@dataclass(frozen=True, eq=False)
class OwnFunction:
    """A user's own reference that is a function: the file has ``inputs()``, or a comment that describes its arguments."""

    file: str
    sha256: str
    imported: dict[str, str] = field(default_factory=dict)
    forward: str | None = None
    """The function whose gradients are the task; None where it is the function itself."""

    CHANGED = OwnModel.CHANGED

    def digests(self) -> dict[str, str]:
        return {self.file: self.sha256} | self.imported


def list_nothing() -> list[Any]:
    """The arguments of a constructor that takes none."""
    return []


@dataclass(frozen=True)
class OriginalRules(Contract):
    """The original's comparison, with its weaknesses: tensors by a constant tolerance for their dtype, or by thresholds where
    the task has them; everything else by equality. Not-a-number equals itself.

    ``against(*args, **kwargs)`` is expected where that is not the reference's result.
    """

    thresholds: dict[str, float] | None = None
    tolerances: Tolerances = field(default_factory=lambda: TOLERANCES)
    against: Callable[..., Any] | None = None

    def right(self, call: Call, result: Any, expected: Any) -> bool:
        """Whether ``compare`` finds a result right, from a few passes over it."""
        if self.thresholds:
            return self.compare(call, [result], expected, None).right
        pairs = zip(leaves(result), leaves(expected), strict=True)
        return all(self._is_right(got, want) for (_, got), (_, want) in pairs)

    def _is_right(self, got: Any, want: Any) -> bool:
        if not isinstance(want, torch.Tensor):
            return not errors.exact_plain("", got, want).wrong
        tolerance = self.tolerances.get(want.dtype)
        if tolerance is None:
            return not errors.exact("", got, want).wrong
        flat = got.detach().reshape(-1), want.detach().reshape(-1)
        return all(_within(g, w, tolerance) for _, (g, w) in errors.stretches(*flat))

    def compare(self, call: Call | None, results: list[Any], expected: Any, truth: Any) -> Outcome:
        if self.against is not None and call is not None:
            with torch.no_grad():
                expected = self.against(*call.args, **call.kwargs)
        found = errors.Comparison()
        complaints: list[str] = []
        figures: dict[str, float] = {}
        for (path, got), (_, want) in zip(leaves(results[0]), leaves(expected), strict=True):
            if isinstance(want, torch.Tensor) and self.thresholds:
                complaints += self._beyond(path, got, want, figures)
            elif isinstance(want, torch.Tensor):
                found.join(_tensor(path, got, want, self.tolerances.get(want.dtype)))
            else:
                found.join(errors.exact_plain(path, got, want))
        metrics = figures if self.thresholds else found.metrics()
        return Outcome(complaints + found.complaints, found.mismatches, metrics, found.outputs)

    def _beyond(self, path: str, got: torch.Tensor, want: torch.Tensor, figures: dict[str, float]) -> list[str]:
        """What is wrong with a tensor that has thresholds; notes its largest finite errors in ``figures``."""
        cosine, l1, rmse = _distances(got.detach().float(), want.detach().float())
        thresholds = self.thresholds or {}
        least = thresholds.get("cosine_sim", LEAST_COSINE)
        most_l1, most_rmse = thresholds.get("l1_relative", MOST_L1), thresholds.get("rmse", MOST_RMSE)
        for name, value in (("l1_relative", l1), ("rmse", rmse), ("cosine_distance", 1 - cosine)):
            if math.isfinite(value):
                figures[name] = max(figures.get(name, 0.0), value)
        # Written so that a not-a-number fails.
        good = (cosine >= least, l1 <= most_l1, rmse <= most_rmse)
        texts = (
            f"cosine {cosine:.6g} < {least}",
            f"relative L1 {l1:.6g} > {most_l1}",
            f"RMSE {rmse:.6g} > {most_rmse}",
        )
        beyond = [text for text, right in zip(texts, good, strict=True) if not right]
        return [f"{path}: {', '.join(beyond)}"] if beyond else []


def _within(got: torch.Tensor, want: torch.Tensor, tolerance: float) -> bool:
    """Whether each element is right by a tolerance both relative and absolute. The absolute one alone settles most."""
    if bool(torch.sub(got, want).abs_().amax() <= tolerance):
        return True
    return bool(torch.isclose(got, want, tolerance, tolerance, equal_nan=True).all())


def _distances(got: torch.Tensor, want: torch.Tensor) -> tuple[float, float, float]:
    """Cosine, relative L1 and RMSE. Two tensors of zeros, or of nothing, are equal, which their quotients do not say: the original's
    has cosine 0 there, so that not even its reference passes."""
    got, want = got.reshape(-1), want.reshape(-1)
    if not (got.any() or want.any()):
        return 1.0, 0.0, 0.0
    cosine = F.cosine_similarity(got, want, dim=0).item()
    l1 = (got - want).abs().sum() / want.abs().sum().clamp_min(1e-12)
    return cosine, l1.item(), (got - want).square().mean().sqrt().item()


def _tensor(path: str, got: torch.Tensor, want: torch.Tensor, tolerance: float | None) -> errors.Comparison:
    if tolerance is None:
        return errors.exact(path, got, want)
    found, output = errors.Comparison(compared=got.numel()), errors.Output(path, got.detach(), want)
    for start, (g, w) in errors.stretches(got.detach().reshape(-1), want.detach().reshape(-1)):
        right = torch.isclose(g, w, tolerance, tolerance, equal_nan=True)
        g, w = g.double(), w.double()
        error = (g - w).abs()
        ratio = error / (tolerance + tolerance * w.abs())
        found.add(output, start, right, g, w, ratio)
        found.measure(error, w, ratio)
    return found
