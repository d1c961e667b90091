"""``kbx.capture``: what is written of a program's calls. A test in Java has kbx judge by such files."""

from __future__ import annotations

import itertools
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import kbx


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * self.weight


class Block(nn.Module):
    def __init__(self, width: int = 32, heads: int = 2) -> None:
        super().__init__()
        self.heads, self.norm, self.qkv = heads, RMSNorm(width), nn.Linear(width, 3 * width)
        self.out, self.drop, self.up = nn.Linear(width, width), nn.Dropout(0.1), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.drop(self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)))
        return x + F.gelu(self.up(x), approximate="tanh")


def index(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / "capture.json").read_text())
    return read


def calls(file: Path) -> tuple[Any, list[dict[str, Any]]]:
    """The function of a file, and the arguments of its calls."""
    names = runpy.run_path(str(file))
    return names[re.sub(r"_\d+$", "", file.stem)], list(names["inputs"]())


def test_a_transformer_is_recorded(tmp_path: Path) -> None:
    model = nn.Sequential(Block(), Block())
    with kbx.capture(tmp_path) as recorded:
        for length in (8, 8, 1):
            model(torch.randn(2, length, 32))
    names = {"linear", "gelu", "scaled_dot_product_attention", "rmsnorm"}
    assert {file.stem for file in recorded.files} == names
    found = {each["function"]: each for each in index(tmp_path)["functions"]}
    assert {name: each["calls"] for name, each in found.items()} == {
        "linear": 18, "gelu": 6, "scaled_dot_product_attention": 6, "rmsnorm": 6,
    }  # fmt: skip
    assert sum(each["share"] for each in found.values()) == pytest.approx(1)
    assert sorted(kind["calls"] for kind in found["linear"]["kinds"]) == [2, 4, 4, 8]
    assert index(tmp_path)["left_out"] == [
        {"name": "torch.nn.functional.dropout", "why": "draws random numbers", "calls": 6}
    ]
    for file in recorded.files:
        function, made = calls(file)
        assert len(made) == len(found[function.__name__]["kinds"])
        for arguments, kind in zip(made, found[function.__name__]["kinds"], strict=True):
            for name, value in arguments.items():
                if isinstance(value, torch.Tensor):
                    held = kind["arguments"][name]
                    assert [list(value.shape), list(value.stride())] == [held["shape"], held["stride"]]
            assert function(**arguments).isfinite().all()
    assert "approximate='tanh'" in (tmp_path / "gelu.py").read_text()
    assert not (tmp_path / "linear.pt").exists()


def test_modules_compute_what_they_did(tmp_path: Path) -> None:
    model, x = Block().eval(), torch.randn(2, 8, 32)
    with kbx.capture(tmp_path, only=[Block], values=True):
        expected = model(x)
    function, [arguments] = calls(tmp_path / "block.py")
    assert torch.equal(arguments["x"], x)
    torch.testing.assert_close(function(**arguments), expected)
    assert [each["function"] for each in index(tmp_path)["functions"]] == ["block"]


def test_weights_are_parts_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    monkeypatch.setattr("kbx.recording.time", SimpleNamespace(perf_counter=lambda: float(next(ticks))))
    with kbx.capture(tmp_path):
        for rows in (4, 4, 8, 4):
            F.silu(torch.randn(rows, 16))
    assert "# weights: 0.75, 0.25\ndef inputs():" in (tmp_path / "silu.py").read_text()
    assert [[kind["weight"], kind["seconds"]] for kind in index(tmp_path)["functions"][0]["kinds"]] == [
        [0.75, 3],
        [0.25, 1],
    ]


def test_only_what_is_named_is_recorded(tmp_path: Path) -> None:
    x = torch.randn(4, 8)
    with kbx.capture(tmp_path, only=[torch.cumsum, torch.Tensor.amax, torch.cat]):
        torch.cumsum(F.relu(x), dim=1)
        x.amax(1)
        torch.cat([x, x])
    assert sorted(file.name for file in tmp_path.glob("*.py")) == ["amax.py", "cat.py", "cumsum.py"]
    for name, expected in (("cumsum", (4, 8)), ("amax", (4,)), ("cat", (8, 8))):
        function, [arguments] = calls(tmp_path / f"{name}.py")
        assert function(**arguments).shape == expected
    with pytest.raises(ValueError, match=r"only: .* neither a function of PyTorch"):
        kbx.capture(tmp_path, only=["softmax"])


def test_values_are_drawn_like_those_that_were_seen(tmp_path: Path) -> None:
    with kbx.capture(tmp_path):
        F.batch_norm(torch.randn(64, 8) * 3 + 5, torch.zeros(8), torch.ones(8), eps=1e-3)
        F.embedding(torch.tensor([3, 9]), torch.randn(10, 4, dtype=torch.bfloat16))
        x = torch.randn(1, 8, 4)
        F.scaled_dot_product_attention(x, x, x, attn_mask=torch.ones(8, 8) > 0)
        F.softmax(torch.full((3, 4), -torch.inf), -1)
    _, [norm] = calls(tmp_path / "batch_norm.py")
    assert norm["input"].mean() == pytest.approx(5, abs=1) and norm["input"].std() == pytest.approx(3, abs=0.5)
    assert norm["running_var"].min() > 0 and norm["running_var"].std() > 0
    assert norm["eps"] == 1e-3 and "momentum" not in norm
    _, [embedding] = calls(tmp_path / "embedding.py")
    assert embedding["input"].min() >= 3 and embedding["input"].max() <= 9
    assert embedding["weight"].dtype == torch.bfloat16
    _, [attention] = calls(tmp_path / "scaled_dot_product_attention.py")
    assert attention["attn_mask"].all()
    _, [softmax] = calls(tmp_path / "softmax.py")
    assert softmax["input"].isfinite().all()
    [held] = [each for each in index(tmp_path)["functions"] if each["function"] == "softmax"]
    assert held["kinds"][0]["arguments"]["input"]["finite"] == 0


def test_the_calls_of_one_file_take_the_same_arguments(tmp_path: Path) -> None:
    with kbx.capture(tmp_path):
        F.gelu(torch.randn(4))
        F.gelu(torch.randn(4), approximate="tanh")
    assert sorted(file.name for file in tmp_path.glob("*.py")) == ["gelu.py", "gelu_2.py"]
    assert {tuple(calls(file)[1][0]) for file in tmp_path.glob("*.py")} == {("input",), ("input", "approximate")}


def test_a_file_has_the_calls_that_take_most_of_the_time(tmp_path: Path) -> None:
    with kbx.capture(tmp_path):
        for rows in range(1, 21):
            F.silu(torch.randn(rows))
    [held] = index(tmp_path)["functions"]
    assert (held["calls"], len(held["kinds"]), held["kinds_left_out"]) == (20, 16, 4)
    assert sum(kind["weight"] for kind in held["kinds"]) == pytest.approx(1)
    assert held["seconds"] > sum(kind["seconds"] for kind in held["kinds"])
    assert len(calls(tmp_path / "silu.py")[1]) == 16


def test_what_no_file_can_hold_is_said(tmp_path: Path) -> None:
    class Branching(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x if x.sum() > 0 else -x

    with kbx.capture(tmp_path, only=[Branching, torch.sum]):
        Branching()(torch.ones(3))
        torch.sum(torch.eye(3).to_sparse())
    left_out = {each["name"]: each["why"] for each in index(tmp_path)["left_out"]}
    assert left_out["torch.sum"] == "input is not a dense tensor"
    assert left_out["Branching"].startswith("torch.fx does not trace it: ")
    assert not list(tmp_path.glob("*.py"))


def test_an_exception_passes_and_leaves_nothing_behind(tmp_path: Path) -> None:
    class Failing(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise RuntimeError("no")

    folder = tmp_path / "out"
    with pytest.raises(RuntimeError, match="no"), kbx.capture(folder):
        Failing()(torch.ones(3))
    assert not folder.exists()
    with kbx.capture(folder) as recorded:
        with pytest.raises(RuntimeError, match="no"):
            Failing()(torch.ones(3))
        F.relu(torch.ones(3))
    F.silu(torch.ones(3))
    assert [file.name for file in recorded.files] == ["relu.py"]


def test_torch_is_imported_by_capture_alone() -> None:
    code = "import sys, kbx; assert 'torch' not in sys.modules; kbx.capture('out'); assert 'torch' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})
