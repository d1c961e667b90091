"""Four-bit floats against the values of the OCP Microscaling Formats specification."""

import pathlib

import pytest
import torch

from kbx.oracle import taskfile
from kbx.oracle.plan import plan
from kbx.suite import microscaling as mx


def test_codes_of_four_bits_are_those_of_the_specification():
    # E2M1 has bias 1: 0.5 is subnormal, 1.5 = 2^0 * 1.5, 6 = 2^2 * 1.5 the largest.
    by_bits = [0.5 * (code & 1) if code < 2 else 2.0 ** ((code >> 1) - 1) * (1 + 0.5 * (code & 1)) for code in range(8)]
    codes = torch.arange(16, dtype=torch.uint8)
    assert mx.of_e2m1(codes).tolist() == by_bits + [-value for value in by_bits]
    assert torch.equal(mx.e2m1(mx.of_e2m1(codes)), codes)


def test_ties_go_to_the_even_code_and_what_is_larger_to_six():
    ties = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0])
    assert mx.of_e2m1(mx.e2m1(ties)).tolist() == [0.0, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0]
    assert mx.of_e2m1(mx.e2m1(torch.nextafter(ties, torch.tensor(9.0)))).tolist() == [0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    assert mx.of_e2m1(mx.e2m1(torch.nextafter(ties, torch.tensor(0.0)))).tolist() == [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]
    assert mx.of_e2m1(mx.e2m1(torch.tensor([7.0, 1e9, -1e9]))).tolist() == [6.0, 6.0, -6.0]


def test_zeros_and_what_rounds_to_them_keep_their_sign():
    assert mx.e2m1(torch.tensor([0.0, -0.0, 0.2, -0.2])).tolist() == [0, 8, 0, 8]


def test_every_rounding_is_to_a_nearest_value():
    x = torch.linspace(-6, 6, 4801, dtype=torch.float64)
    grid = mx.of_e2m1(torch.arange(16, dtype=torch.uint8), torch.float64)
    nearest = (x[:, None] - grid).abs().amin(1)
    assert torch.equal((mx.of_e2m1(mx.e2m1(x), torch.float64) - x).abs(), nearest)


def test_the_first_of_two_codes_is_in_the_low_half():
    codes = torch.tensor([[1, 2, 15, 0]], dtype=torch.uint8)
    assert mx.packed(codes).tolist() == [[0x21, 0x0F]]
    assert torch.equal(mx.unpacked(mx.packed(codes)), codes)


def test_scales_are_powers_of_two_with_bias_127():
    assert mx.of_e8m0(torch.tensor([0, 1, 126, 127, 128, 254], dtype=torch.uint8)).tolist() == [
        2.0**-127, 2.0**-126, 0.5, 1.0, 2.0, 2.0**127,
    ]  # fmt: skip
    assert mx.of_e8m0(torch.tensor([255], dtype=torch.uint8)).isnan().all()


def test_the_scale_of_a_block_brings_its_largest_element_to_the_largest_exponent():
    largest = torch.tensor([1.0, 1.99, 2.0, 4.0, 6.0, 7.99, 8.0, 0.75, 0.0, 2.0**-127, 3.0e38])
    assert mx.e8m0(largest).tolist() == [125, 125, 126, 127, 127, 127, 128, 124, 0, 0, 252]
    assert torch.equal(mx.e8m0(largest.double()), mx.e8m0(largest))
    normal = largest[(largest > 0) & (largest > 2.0**-120)]
    quotient = normal / mx.of_e8m0(mx.e8m0(normal))
    assert bool(((quotient >= 4) & (quotient < 8)).all())


@pytest.mark.parametrize("name", ["mxfp4_quantize", "nvfp4_quantize"])
def test_references_write_the_format_out_and_agree_with_it(name):
    """What models are shown names nothing of kbx's, which they cannot call."""
    task = taskfile.load(pathlib.Path(__file__).parents[2] / f"tasks/serving/Quantization/{name}.py")
    for planned in plan(task, "seed", ordered=True)[:12]:
        call = planned.made(task, "cpu")
        packed, scale = task.reference(*call.args, **call.kwargs)
        x = call.args[0].float()
        blocks = x.unflatten(1, (-1, x.shape[1] // scale.shape[1]))
        if name == "mxfp4_quantize":
            assert torch.equal(scale, mx.e8m0(blocks.abs().amax(2)))
            quotient = blocks / mx.of_e8m0(scale)[:, :, None]
        else:
            factor = torch.where(scale.float() > 0, call.args[1] / scale.float(), 0)
            quotient = blocks * factor[:, :, None]
        assert torch.equal(packed, mx.packed(mx.e2m1(quotient).flatten(1)))
