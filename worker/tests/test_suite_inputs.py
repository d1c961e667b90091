"""Inputs: equal seeds give equal values, and every distribution and domain is what it says."""

import pytest
import torch

from kbx.suite import DISTRIBUTIONS, Inputs, broadcast


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_equal_seeds_give_equal_values(distribution):
    def draw(seed):
        make = Inputs("float32", distribution, seed)
        return torch.cat(
            [make.floats(50), make.plain(50), make.ints(50, low=0, high=9).float(), make.bools(50).float()]
        )

    assert torch.equal(draw("a/1"), draw("a/1"))
    assert not torch.equal(draw("a/1"), draw("a/2"))


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_precisions_get_equal_numbers(distribution):
    wide = Inputs("float64", distribution, 3).floats(100)
    assert torch.equal(Inputs("bfloat16", distribution, 3).floats(100), wide.bfloat16())


def test_distributions_have_their_properties():
    def draw(name):
        return Inputs("float32", name, 5).floats(10_000)

    assert draw("uniform").abs().max() <= 1
    assert 0.9 < draw("standard").std() < 1.1
    assert 20 < draw("large").std() < 40
    assert draw("small").abs().max() < 0.01
    assert 0.0002 < (draw("outliers").abs() > 5).float().mean() < 0.002
    assert 0.005 < (draw("wide").abs() > 5).float().mean() < 0.02
    zeros = draw("zeros")
    assert 0.45 < (zeros == 0).float().mean() < 0.55
    assert (zeros.signbit() & (zeros == 0)).any()


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (1e-3, None), (None, 5), (2, 100)])
def test_domains_are_kept_and_their_ends_visited(distribution, low, high):
    x = Inputs("float64", distribution, 1).floats(1000, low=low, high=high)
    assert low is None or x.min() == low
    assert high is None or x.max() == high


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float8_e4m3fn"])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_values_are_finite_in_each_dtype(dtype, distribution):
    assert Inputs(dtype, distribution).floats(10_000).float().isfinite().all()


@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 5), (2, 3, 4), (2, 0, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.bool])
def test_strided_holds_equal_values_elsewhere(shape, dtype):
    make = Inputs()
    x = make.ints(*shape, low=0, high=2, dtype=dtype)
    y = make.strided(x)
    assert torch.equal(x, y)
    assert y.dtype == dtype
    assert x.numel() <= 1 or not y.is_contiguous()


def test_expanded_takes_no_memory():
    assert Inputs().expanded(torch.ones(3, 1), 3, 4).stride() == (1, 0)


def test_matrices_have_the_condition_asked_for():
    make = Inputs("float64")
    spd = make.spd(12, batch=(2,), condition=1e3)
    assert torch.equal(spd, spd.mT)
    assert torch.linalg.cond(spd).tolist() == pytest.approx([1e3] * 2, rel=1e-6)
    assert torch.linalg.eigvalsh(spd).min() > 0
    for shape in ((5, 9), (9, 5)):
        values = torch.linalg.svdvals(make.well_conditioned(*shape, condition=50))
        assert (values[0] / values[-1]).item() == pytest.approx(50)


def test_fast_matrices_have_the_condition_asked_for():
    make = Inputs("float32", fast=True)
    spd = make.spd(64, batch=(2,), condition=1e3).double()
    assert torch.linalg.cond(spd).tolist() == pytest.approx([1e3] * 2, rel=1e-2)
    assert not torch.equal(*spd)
    for shape in ((50, 90), (90, 50)):
        values = torch.linalg.svdvals(make.well_conditioned(*shape, condition=50).double())
        assert (values[0] / values[-1]).item() == pytest.approx(50, rel=1e-3)


def test_choice_visits_everything():
    make = Inputs()
    assert {make.choice("abc") for _ in range(50)} == set("abc")


def test_fast_inputs_have_the_same_form():
    x = Inputs("float16", fast=True).floats(3, 5)
    assert (x.shape, x.dtype) == ((3, 5), torch.float16)


def test_an_unknown_distribution_is_named():
    with pytest.raises(ValueError, match="unknown distribution 'normal'"):
        Inputs(distribution="normal")


@pytest.mark.parametrize(
    ("shapes", "whole"),
    [([(3, 1), (1, 4)], (3, 4)), ([(), ()], ()), ([(5,), (2, 0, 1)], (2, 0, 5)), ([(2,), (1,), (4, 1)], (4, 2))],
)
def test_shapes_broadcast_as_tensors_do(shapes, whole):
    assert broadcast(*shapes) == torch.Size(whole)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(RuntimeError):
        broadcast((2,), (3,))
