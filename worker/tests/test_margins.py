"""Honest algorithms are far from their limits and wrong ones far beyond: ``bench/margins.py`` on some tasks, on a tenth of them in a soak test."""

import importlib.util
import json
import pathlib
import warnings

import pytest
import torch
from soak import ALL

from kbx.oracle import taskfile

ROOT = pathlib.Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("margins", ROOT / "bench" / "margins.py")
margins = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(margins)

TENTH = 10
"""In a soak test one task in so many: all take an hour, which ``bench/margins.py`` is for."""
SAMPLE = (
    "Activation/sigmoid_bf16", "Activation/tanh_fp16", "Fusion/fused_elu_linear", "Loss/mse_loss", "Math/mul_fp16", "MatrixMultiply/matmul_bf16",
    "MatrixMultiply/matmul_fp16", "Optimizer/Adam", "Reduce/std",
)  # fmt: skip
CHOSEN = [
    pytest.param(name, path, id=name)
    for number, (name, path) in enumerate(margins.tasks([]))
    if (ALL and number % TENTH == 0) or name.removeprefix("kernelbenchx/") in SAMPLE
]


@pytest.mark.more
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "path"), CHOSEN)
def test_honest_margins_are_small_and_wrong_ones_large(name, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = [{"task": name, "margins": margins.margins(taskfile.load(path), "0")}]
    rows = list(margins.summary(lines))
    assert rows and [row[1:3] for row in rows if row[3] and not row[4]] == []


def test_sums_are_what_they_say():
    x = torch.randn(7, 301, generator=torch.Generator().manual_seed(1))
    for name, each in margins.SUMS.items():
        assert torch.allclose(each(x).double(), x.double().sum(-1), atol=1e-4), name
    assert (
        margins.sequential(torch.tensor([1e8, 1.0, -1e8])) == 0
        and margins.backwards(torch.tensor([1e8, 1.0, -1e8])) == 0
    )
    assert margins.tree(torch.tensor([1e8, -1e8, 1.0])) == 1
    mean, squares = margins.welford(x)
    assert torch.allclose(squares / 301, x.var(-1, correction=0)) and torch.allclose(mean, x.mean(-1), atol=1e-6)
    assert torch.allclose(margins.welford_blocks(x)[1], squares, rtol=1e-5)
    assert torch.allclose(margins.online(x), x.softmax(-1))


def test_products_are_what_they_say():
    make = torch.Generator().manual_seed(2)
    a, b = torch.randn(2, 5, 70, generator=make), torch.randn(2, 70, 3, generator=make)
    for product in (margins.outer_products, margins.blocks, margins.split_k, margins.tensor_core):
        assert torch.allclose(product(a, b), a @ b, atol=1e-4)
    assert not torch.allclose(margins.tf32(a, b), a @ b, atol=1e-4)
    half = margins.narrow_sum(a, b, torch.float16)
    assert torch.equal(half, half.half().float()) and torch.allclose(half, a @ b, atol=0.1)


def test_runs_go_on_where_they_were_cut_off(tmp_path, monkeypatch, capsys):
    out = tmp_path / "margins.jsonl"
    run = ["margins.py", "--seeds", "2", "--tasks", "Activation/relu_fp16", "--tasks", "relu_fp16", "--out", str(out)]
    monkeypatch.setattr("sys.argv", run)
    margins.main()
    whole = out.read_text()
    assert [json.loads(line)["seed"] for line in whole.splitlines()] == [0, 1]
    out.write_text(whole.splitlines(keepends=True)[0])
    margins.main()
    assert out.read_text() == whole
    assert (
        capsys.readouterr().out.splitlines()[-1].endswith(" margins of 1 tasks: 0 miss the goal, 0 for known reasons")
    )
