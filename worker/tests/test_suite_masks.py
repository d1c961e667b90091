"""Dropout masks: fair ones always pass, each kind of bad one fails."""

import pytest
import torch
from soak import ALL

from kbx.suite import Inputs, dropout_complaints, mask_complaints

SHAPE = (67, 53)
PROBABILITIES = (0.1, 0.5, 0.8)
TURNS = 1000 if ALL else 100


def honest(p, count=2, shape=SHAPE):
    return [torch.rand(shape) >= p for _ in range(count)]


@pytest.mark.more
@pytest.mark.parametrize("p", [0.01, 0.1, 0.3, 0.5, 0.8, 0.95])
def test_accepts_honest_masks_every_time(p):
    torch.manual_seed(1)
    for turn in range(TURNS):
        shape = [(5,), (40, 13), (9, 7, 11), (1900,)][turn % 4]
        data = Inputs(distribution="outliers", seed=turn).floats(*shape)
        assert mask_complaints(honest(p, shape=shape), p, data) == []


@pytest.mark.more
@pytest.mark.parametrize("p", PROBABILITIES)
def test_accepts_honest_masks_that_are_partly_hidden(p):
    torch.manual_seed(2)
    for _ in range(TURNS // 3):
        data = torch.randn(SHAPE)
        masks = [mask & (data > 0) for mask in honest(p)]
        assert mask_complaints(masks, p, data, data > 0) == []


def test_accepts_an_honest_mask_that_is_larger_than_the_sample():
    torch.manual_seed(3)
    assert mask_complaints(honest(0.5, 1, (3, 700001)), 0.5, torch.randn(3, 700001)) == []


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_dropping_all_or_nothing_is_not_random(p):
    assert mask_complaints(honest(p), p, torch.randn(SHAPE)) == []


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 0), (2, 2)])
def test_few_elements_are_not_judged(shape):
    assert mask_complaints(honest(0.5, shape=shape), 0.5, torch.randn(shape)) == []


def dropped_below(data, p):
    return data >= data.quantile(p)


BAD = {
    "keeps with probability p": (lambda p, data: [torch.rand(SHAPE) < p], "keep rate"),
    "never drops": (lambda p, data: [torch.ones(SHAPE, dtype=torch.bool)], "keep rate"),
    "drops a little too often": (lambda p, data: [torch.rand(SHAPE) >= p + 0.1], "keep rate"),
    "drops the smallest": (lambda p, data: [dropped_below(data, p)], "follows the data"),
    "drops the smallest in magnitude": (lambda p, data: [dropped_below(data.abs(), p)], "magnitude"),
    "drops nothing in the second half": (
        lambda p, data: [(torch.rand(SHAPE) >= 2 * p) | (torch.arange(67)[:, None] > 33)],
        "along the tensor",
    ),
    "one decision a row": (lambda p, data: [(torch.rand(67, 1) >= p).expand(SHAPE)], "together"),
    "one decision a column": (lambda p, data: [(torch.rand(53) >= p).expand(SHAPE)], "together"),
    "pairs": (lambda p, data: [(torch.rand(67, 27) >= p).repeat_interleave(2, 1)[:, :53]], "together"),
    "the same stream in each block of 256": (
        lambda p, data: [(torch.rand(256) >= p).repeat(14)[: 67 * 53].reshape(SHAPE)],
        "together",
    ),
    "the same stream in each tile": (
        lambda p, data: [(torch.rand(32, 32) >= p).repeat(3, 2)[:67, :53]],
        "together",
    ),
    "the same mask in every call": (lambda p, data: [torch.rand(SHAPE) >= p] * 2, "two calls"),
    "a stream that goes on one element later": (
        lambda p, data: [m.reshape(SHAPE) >= p for s in [torch.rand(67 * 53 + 1)] for m in (s[1:], s[:-1])],
        "two calls",
    ),
}


@pytest.mark.parametrize("p", PROBABILITIES)
@pytest.mark.parametrize("kind", BAD)
def test_rejects_biased_masks(kind, p):
    make, text = BAD[kind]
    if kind == "keeps with probability p" and p == 0.5 or kind == "drops nothing in the second half" and p == 0.8:
        pytest.skip("no mistake")
    torch.manual_seed(4)
    for _ in range(10):
        data = torch.randn(SHAPE)
        assert any(text in complaint for complaint in mask_complaints(make(p, data), p, data))


@pytest.mark.parametrize("p", PROBABILITIES)
def test_rejects_a_fixed_mask_of_which_half_is_hidden(p):
    data = torch.randn(SHAPE)
    mask = (torch.rand(SHAPE) >= p) & (data > 0)
    assert mask_complaints([mask, mask], p, data, data > 0)


def test_rejects_errors_beyond_the_sample():
    mask = torch.ones(3, 700001, dtype=torch.bool)
    mask[:1, :] = torch.rand(1, 700001) >= 0.5
    assert any("keep rate" in c for c in mask_complaints([mask], 0.5, torch.randn(3, 700001)))


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("distribution", ["standard", "outliers", "small", "zeros"])
def test_mask_is_read_from_the_values(p, distribution):
    torch.manual_seed(5)
    for seed in range(50):
        x = Inputs(distribution=distribution, seed=seed).floats(*SHAPE)
        truth = x.double() / (1 - p) if p < 1 else x.double()
        results = [torch.where(mask, truth, 0).float() for mask in honest(p)]
        assert dropout_complaints(results, p, truth.float(), truth) == []


def test_mask_is_read_if_dropped_elements_are_not_zero():
    torch.manual_seed(6)
    x, base = torch.randn(SHAPE, dtype=torch.float64), torch.randn(53)
    draw = [torch.where(mask, 2 * x + base, base.double()).float() for mask in honest(0.5)]
    truth = 2 * x + base
    assert dropout_complaints(draw, 0.5, truth.float(), truth, base) == []
    assert "two calls" in dropout_complaints(draw[:1] * 2, 0.5, truth.float(), truth, base)[0]


@pytest.mark.parametrize("spoil", [lambda t: t * 1.001, lambda t: t + 1e-3, lambda t: t * float("nan")])
def test_rejects_values_neither_kept_nor_dropped(spoil):
    truth = torch.randn(SHAPE, dtype=torch.float64)
    result = torch.where(honest(0.5)[0], truth, 0).float()
    assert "neither" in dropout_complaints([spoil(result)], 0.5, truth.float(), truth)[0]


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_mask_is_fixed_for_p_zero_or_one(p):
    truth = torch.randn(SHAPE, dtype=torch.float64)
    draw = torch.where(honest(0.5)[0], truth, 0).float()
    assert "neither" in dropout_complaints([draw], p, truth.float(), truth)[0]


def test_accepts_an_empty_result():
    assert dropout_complaints([torch.empty(0, 3)], 0.5, torch.empty(0, 3), torch.empty(0, 3).double()) == []
