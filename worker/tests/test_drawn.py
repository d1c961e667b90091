"""Calls that a function draws, and variations of them."""

import numpy as np
import pytest
import torch

from kbx.suite import Inputs, call, drawn
from kbx.suite.drawn import SIGNS, VARIATIONS, calls, varied


def test_accepted_forms_of_inputs_results():
    x, y = torch.ones(2), torch.zeros(3)
    assert [len(c.args) for c in calls((x, y))] == [2]
    assert [len(c.args) for c in calls([x, y])] == [2]
    assert [len(c.args) for c in calls([(x,), (y, 1)])] == [1, 2]
    assert [c.args[0] is x for c in calls(x)] == [True]
    assert [c.kwargs["x"] is x for c in calls({"x": x})] == [True]
    assert [c.kwargs["x"].numel() for c in calls([{"x": x}, {"x": y}])] == [2, 3]
    # A tuple is one call even if all that it holds are tuples.
    assert len(calls(((2, 3), (4, 5)))) == 1
    with pytest.raises(ValueError, match="must return the arguments as a tuple, list or dict, not int"):
        calls(3)


@pytest.mark.parametrize("variation", VARIATIONS)
def test_a_variation_changes_one_thing(variation):
    x, mask = torch.randn(16, 8), torch.ones(16, dtype=torch.bool)
    got = varied(call(x, mask, 0.5, dim=1), variation, Inputs(seed=3))
    other = got.args[0]
    assert (other.shape, other.dtype, got.args[2], got.kwargs) == (x.shape, x.dtype, 0.5, {"dim": 1})
    assert torch.equal(got.args[1], mask)
    assert other.is_contiguous() == (variation != "non_contiguous")
    assert torch.equal(other, x) == (variation == "non_contiguous")
    assert bool(other.isfinite().all()) == (variation != "special_values")


def test_values_are_scaled_and_zeros_have_both_signs():
    x = torch.rand(1000) + 0.5
    small, large, zeros, special = (
        varied(call(x), v, Inputs(seed=3)).args[0] for v in ("tiny_values", "wide_values", "zeros", "special_values")
    )
    assert small.max() <= 1.5e-3 and large.min() >= 15
    assert torch.signbit(zeros[zeros == 0]).unique().tolist() == [False, True]
    assert special.isnan().sum() == 1 and special.isinf().sum() == 2


def test_calls_that_cannot_vary_have_no_variation():
    indices = torch.arange(6)
    assert varied(call(indices, 2), "wide_values", Inputs(seed=1)) is None
    assert varied(call(torch.ones(())), "non_contiguous", Inputs(seed=1)) is None


def signs(*args, variation="sign:negative"):
    """The signs of the tensors of a varied call: -1, 1, 0 where there are both; None where nothing is varied."""
    made = varied(call(*args), variation, Inputs(seed=3))
    if made is None:
        return None
    return [int(t.float().sign().mean()) for t in made.args]


def test_values_of_both_signs_get_one():
    x, y = torch.randn(5, 40), torch.randn(40).to(torch.float8_e4m3fn)
    assert [signs(x, y, variation=each) for each in SIGNS] == [[-1, -1], [1, 1], [-1, 1]]
    assert [signs(x, variation=each) for each in SIGNS] == [[-1], [1], None]
    other = varied(call(x, y), "sign:negative", Inputs(seed=3)).args[0]
    assert torch.equal(other.abs(), x.abs())
    masked = varied(call(x.masked_fill(x > 1, -torch.inf)), "sign:positive", Inputs(seed=3)).args[0]
    assert masked.isneginf().any() and (masked[masked.isfinite()] >= 0).all()


def test_signs_that_mean_something_stay():
    x, variance = torch.randn(5, 40), torch.rand(40) + 0.1
    mask, boundaries = torch.full((5, 5), -torch.inf).triu(1), torch.randn(5, 40).sort().values
    assert signs(x, variance) == [-1, 1]
    assert torch.equal(varied(call(x, mask), "sign:positive", Inputs(seed=3)).args[1], mask)
    assert torch.equal(varied(call(x, boundaries), "sign:negative", Inputs(seed=3)).args[1], boundaries)


def test_of_tensors_without_signs_all_are_negative_but_masks_and_probabilities():
    x, mask, p = torch.rand(5, 40) + 0.1, (torch.rand(40) < 0.5).float(), torch.randn(5, 40).softmax(-1)
    assert signs(x, x + 1) == [-1, -1]
    assert signs(x, x + 1, variation="sign:positive") is None
    assert signs(x, p) == [-1, 1]
    assert torch.equal(varied(call(x, mask), "sign:negative", Inputs(seed=3)).args[1], mask)
    assert signs(p) is None
    assert signs(x, torch.ones(3)) is None  # of so few, one sign is an accident


def test_a_task_file_draws_under_the_seed_and_distribution_of_make():
    def inputs():
        return [(torch.rand(100),), (torch.rand(3), 2)]

    one, again, other = (drawn(Inputs(seed=s), inputs).args[0] for s in (1, 1, 2))
    assert torch.equal(one, again) and not torch.equal(one, other)
    assert drawn(Inputs(seed=1), inputs, 1).args[1] == 2
    assert drawn(Inputs(distribution="small", seed=1), inputs).args[0].max() <= 1e-3
    assert not drawn(Inputs(seed=1), inputs, variation="non_contiguous").args[0].is_contiguous()


HOSTS = {
    "arrays of numpy's beside tensors": lambda: torch.from_numpy(np.ones(8)) * torch.randn(8),
    "an array made of a tensor": lambda: torch.randn(8).numpy(),
}


@pytest.mark.parametrize("make", HOSTS.values(), ids=HOSTS.keys())
def test_what_cannot_be_drawn_on_the_device_is_drawn_on_the_host_and_moved(make):
    # The meta device refuses here what a GPU does; that one refuses a CPU's generator, too.
    assert drawn(Inputs(seed=1, device="meta"), lambda: (make(), 2)).args[0].device.type == "meta"


def test_what_can_be_drawn_on_the_device_is_drawn_there_alone():
    seen = []

    def inputs():
        seen.append(torch.randn(8))
        return seen[-1], 2

    drawn(Inputs(seed=1, device="meta"), inputs)
    assert [x.device.type for x in seen] == ["meta"]


def test_what_raises_on_the_host_as_well_says_so_as_it_does_there():
    def inputs():
        raise ValueError(f"no values on {torch.ones(()).device}")

    with pytest.raises(ValueError, match="no values on cpu"):
        drawn(Inputs(seed=1, device="meta"), inputs)


def test_drawing_leaves_the_generators_as_they_were():
    torch.manual_seed(5)
    drawn(Inputs(seed=1), lambda: torch.rand(4))
    after = torch.rand(4)
    torch.manual_seed(5)
    assert torch.equal(after, torch.rand(4))
