"""The comment that describes a reference's arguments."""

import re

import pytest
import torch

from kbx.suite import Inputs, notation, noted


def made(text, **options):
    return notation.parse(text)(Inputs(seed=1, **options))


def test_tensors_scalars_and_names():
    call = made("f32[4, 8], bf16[3], i64[6] < 5, bool[7], 0.5, None, torch.float16, dim=-1, shape=(2, 3)")
    x, y, i, mask, *rest = call.args
    assert (x.dtype, x.shape, y.dtype, y.shape) == (torch.float32, (4, 8), torch.bfloat16, (3,))
    assert (i.dtype, mask.dtype) == (torch.int64, torch.bool)
    assert i.min() >= 0 and i.max() < 5
    assert rest == [0.5, None, torch.float16]
    assert call.kwargs == {"dim": -1, "shape": (2, 3)}


def test_torch_names_and_no_dimensions():
    x, y, z = made("float64[2], torch.int32[3], f32[()]").args
    assert (x.dtype, y.dtype, z.shape) == (torch.float64, torch.int32, ())


def test_float8_and_unsigned_integers():
    call = made("f8[2], f8e4m3[3], f8e5m2[4], float8_e5m2[1], u16[2], u64[2] < 7")
    f8 = [torch.float8_e4m3fn] * 2 + [torch.float8_e5m2] * 2
    assert [t.dtype for t in call.args] == [*f8, torch.uint16, torch.uint64]
    assert notation.shown(call) == "f8e4m3[2], f8e4m3[3], f8e5m2[4], f8e5m2[1], u16[2], u64[2]"


def test_seeds_give_other_values():
    one, other = (notation.parse("f32[64]")(Inputs(seed=s)).args[0] for s in (1, 2))
    assert not torch.equal(one, other)


def test_a_distribution_is_kept():
    assert made("f32[1000]", distribution="small").args[0].abs().max() < 0.1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("f33[4]", "names the dtype 'f33', which is none of f16, bf16, f32"),
        (
            "float33[4]",
            "names the dtype 'float33', which is none of f16, bf16, f32, f64, f8, f8e4m3, f8e5m2, i8, u8, i16, i32, i64, u16, u32, u64,"
            " bool, c64, c128, nor one of PyTorch's names, such as float32",
        ),
        ("f32[4", "is not a list of arguments"),
        ("f32[4]) + (1", "is not a list of arguments"),
        ("f32[n]", "holds n, which is neither a literal nor a tensor such as f32[4, 8]"),
        ("f32[2.5]", "has a tensor of the sizes 2.5, which must be whole numbers"),
        ("f32[-1]", "has a tensor of the sizes -1, which must be whole numbers"),
        ("i64[4] < 0", "has 0 after '<', which must be a whole number from 1"),
        ("4 < 5", "has '<' after something that is not a tensor"),
        ("open('/etc/passwd')", "holds open('/etc/passwd'), which is neither a literal"),
        ("**{}", "cannot hold **"),
    ],
)
def test_unreadable_notation_is_refused(text, complaint):
    with pytest.raises(ValueError, match="^" + re.escape(complaint)):
        notation.parse(text)


def test_comments_directly_above_a_line():
    source = "# inputs: f32[1]\n\n# What it does\n# inputs: f32[2]\n#inputs: f32[3], 4\n@decorated\ndef f(x): ...\n"
    assert notation.above(source, 6) == [(4, "f32[2]"), (5, "f32[3], 4")]


def test_a_call_is_shown_as_it_would_be_noted():
    text = "f32[4, 8], (i64[6], 2), 'mean', eps=1e-05"
    call = made("f32[4, 8], 'mean', eps=1e-5")
    assert notation.shown(call) == "f32[4, 8], 'mean', eps=1e-05"
    nested = type(call)((call.args[0], (torch.zeros(6, dtype=torch.int64), 2), "mean"), call.kwargs)
    assert notation.shown(nested) == text


def test_a_noted_call_can_be_varied():
    call = noted(Inputs(seed=1), "f32[8, 8], 2", "non_contiguous")
    assert not call.args[0].is_contiguous() and call.args[1] == 2


def test_weights_stand_among_the_arguments():
    source = "# weights: 1\n\n# weights: 3, .5e1\n# inputs: f32[2]\n# weights: those of the model\ndef f(x): ...\n"
    assert notation.weights(source, 6) == [3.0, 5.0]
    assert notation.weights(source, 1) == []
    assert notation.above(source, 6) == [(4, "f32[2]")]
