"""What wrong elements have in common is found where it was planted, and nothing is said of errors without a pattern."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from kbx.oracle.patterns import pattern_of
from kbx.oracle.places import place_of
from kbx.suite import Close, Exact, call
from kbx.tensors import DTYPES

seeds = st.integers(0, 2**32)
SHAPES = st.sampled_from([(24, 40), (3, 17, 30), (2, 8, 16, 16), (700,)])
quick = settings(max_examples=40, deadline=None, derandomize=True)


def normal(seed, *shape, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def said(got, expected, wrong=None, **arguments):
    """The pattern of a result, of which every element that differs is wrong."""
    return pattern_of(got, expected, got != expected if wrong is None else wrong, arguments)


def held(got, expected, wrong=None, **arguments):
    """What the wrong elements are said to hold."""
    text = said(got, expected, wrong, **arguments)
    return text and text.partition("they ")[2]


def mask(shape, *chosen):
    wrong = torch.zeros(shape, dtype=torch.bool)
    wrong[chosen] = True
    return wrong


@quick
@given(shape=SHAPES, data=st.data())
def test_tail_of_a_dimension_is_named(shape, data):
    dim = data.draw(st.sampled_from([d for d, length in enumerate(shape) if length > 3]))
    first = data.draw(st.integers(shape[dim] // 2, shape[dim] - 2))
    wrong = mask(shape, *[slice(None)] * dim, slice(first, None))
    of = f" of dimension {dim}" if len(shape) > 1 else ""
    assert place_of(wrong) == f"all in the tail{of}, from index {first} on"


@quick
@given(seed=seeds, first=st.integers(600, 950))
def test_tail_in_memory_is_named(seed, first):
    wrong = torch.zeros(1000, dtype=torch.bool)
    wrong[first:] = True
    if (1000 - first) % 40:
        assert place_of(wrong.view(25, 40)) == f"all in the tail of the row-major order, from index {first} on"


@quick
@given(seed=seeds)
def test_errors_that_grow_rarer_have_no_bounds(seed):
    rare = 1 - ((torch.arange(3000) - 1500) / 1000).abs().clamp(max=1)
    wrong = torch.rand(3000, generator=torch.Generator().manual_seed(seed)) < 0.3 * rare
    assert place_of(wrong) is None
    assert place_of(wrong.view(50, 60)) is None or "row-major" not in place_of(wrong.view(50, 60))


def test_right_elements_in_a_place_do_not_hide_it():
    wrong = mask((24, 40), slice(None), slice(30, None)) & (normal(0, 24, 40) > 0)
    assert place_of(wrong) == "all in the tail of dimension 1, from index 30 on"


@pytest.mark.parametrize(
    ("shape", "chosen", "place"),
    [
        ((8, 300), (3,), "at index 3 of dimension 0"),
        ((8, 300), (7,), "at index 7 of dimension 0, the last"),
        ((8, 300), (slice(3),), "at the first 3 indices of dimension 0"),
        ((64, 30), ([5, 9, 40],), "at the indices 5, 9 and 40 of dimension 0"),
        ((64, 30), (slice(10, 20),), "at the indices 10 to 19 of dimension 0"),
        ((4, 64, 30), (slice(None), [0, 63]), "at the first and the last index of dimension 1"),
        ((4, 64, 30), (slice(None), [0, 62, 63]), "at the first index and the last 2 indices of dimension 1"),
        ((4, 64, 30), (slice(None), [0, 1, 62, 63]), "at the first 2 indices and the last 2 indices of dimension 1"),
        ((9, 30), ([0, 4, 8],), "at the indices 0, 4 and 8 of dimension 0"),
        ((512, 30), (slice(63, None, 64),), "at every 64th index of dimension 0, from 63 on"),
        ((30, 24), (slice(None), slice(1, None, 2)), "at every 2nd index of dimension 1, from 1 on"),
        ((1024,), ([i for i in range(1024) if i % 64 > 59],), "in the last 4 of every 64 indices"),
        ((1000,), ([i for i in range(1000) if i % 32 < 3],), "in the first 3 of every 32 indices"),
        ((960,), ([i for i in range(960) if 7 < i % 96 < 16],), "at the indices 8 to 15 of every 96 indices"),
        (
            (64, 96),
            (slice(16, 32), slice(64, None)),
            "at the indices 16 to 31 of dimension 0, and in the tail of dimension 1, from index 64 on",
        ),
        ((2, 1, 300), (1,), "at index 1 of dimension 0, the last"),
    ],
)
def test_places_have_names(shape, chosen, place):
    assert place_of(mask(shape, *chosen)) == f"all {place}"


@pytest.mark.parametrize("channels", [(2, 3), (0, 3)])
def test_border_is_named(channels):
    last, wrong = channels[1], torch.ones(2, 16, 16, 3, dtype=torch.bool).movedim(3, channels[1])
    inner = wrong.movedim(last, 3)
    inner[:, 1:-1, 1:-1] = False
    dims = "2 and 3" if last < 2 else "1 and 2"
    assert place_of(wrong) == f"all at the border of dimensions {dims}, 1 wide"
    inner[:, -3:] = True
    assert place_of(wrong) == f"all at the border of dimensions {dims}, up to 3 wide"


def test_border_of_a_volume_is_named():
    wrong = torch.ones(2, 10, 10, 10, dtype=torch.bool)
    wrong[:, 1:-1, 1:-1, 1:-1] = False
    assert place_of(wrong) == "all at the border of dimensions 1, 2 and 3, 1 wide"


@pytest.mark.parametrize(
    ("keep", "place"),
    [
        (lambda m: m.triu(1), "above the diagonal"),
        (lambda m: m.triu(), "on and above the diagonal"),
        (lambda m: m.tril(-1), "below the diagonal"),
        (lambda m: m.tril(), "on and below the diagonal"),
        (lambda m: m.triu().tril(), "on the diagonal"),
    ],
)
def test_sides_of_the_diagonal_are_named(keep, place):
    wrong = keep(torch.ones(3, 32, 32, dtype=torch.bool))
    assert place_of(wrong) == f"all {place} of dimensions 1 and 2"


@quick
@given(shape=SHAPES, seed=seeds, share=st.sampled_from([0.003, 0.03, 0.3, 0.9, 0.997]))
def test_nothing_is_said_of_random_places(shape, seed, share):
    wrong = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < share
    assert place_of(wrong) is None


@quick
@given(shape=SHAPES, seed=seeds, dtype=st.sampled_from([torch.float32, torch.float64, torch.bfloat16, torch.int32]))
def test_nothing_is_said_of_random_values(shape, seed, dtype):
    scale = 1 if dtype.is_floating_point else 10
    got, expected, other = ((normal(seed + i, *shape) * scale).to(dtype) for i in range(3))
    assert held(got, expected, x=other, bias=other[..., 0, :] if len(shape) > 1 else other) is None
    noise = expected + (normal(seed + 3, *shape).abs() + 0.1).to(dtype)
    assert held(noise, expected) is None


@quick
@given(seed=seeds, count=st.integers(1, 40))
def test_nothing_is_said_of_a_few_isolated_elements(seed, count):
    expected = normal(seed, 60, 50)
    got = expected.clone()
    got.view(-1)[torch.randperm(3000, generator=torch.Generator().manual_seed(seed))[:count]] += normal(seed, count)
    assert said(got, expected) is None


@quick
@given(shape=SHAPES, seed=seeds, dtype=st.sampled_from([torch.float64, torch.float32, torch.float16, torch.bfloat16]))
def test_factors_and_differences_are_found(shape, seed, dtype):
    truth = normal(seed, *shape).double()
    for factor in (2, 0.5, 1.25, 8):
        assert held((truth * factor).to(dtype), truth) == f"are {factor} times what is expected"
    assert held((-truth).to(dtype), truth) == "have the other sign"
    assert held((truth + 0.75).to(dtype), truth).startswith("are what is expected plus 0.75")


@quick
@given(seed=seeds)
def test_values_near_zero_show_no_relation(seed):
    truth, far = normal(seed, 30, 40).double(), 1000 + normal(seed + 1, 40).double() ** 2
    nearly_zero = (1e-4 * normal(seed + 2, 30, 40)).float()
    assert held(nearly_zero, truth, index=far) is None


def test_small_factor_has_its_digits():
    truth = normal(0, 30, 40, dtype=torch.float64)
    assert held((truth * 1.0005).float(), truth) == "are 1.0005 times what is expected"


@pytest.mark.parametrize(
    ("value", "words"), [(0, "are 0"), (math.nan, "are not a number"), (-math.inf, "are infinite"), (3, "are 3")]
)
def test_one_value_everywhere_is_named(value, words):
    expected = normal(0, 30, 40)
    got = expected.clone()
    got[:, 20:] = value
    assert said(got, expected) == f"all in the tail of dimension 1, from index 20 on; they {words}"


def test_false_positives_are_named():
    expected = normal(0, 30, 40) > 0
    assert held(expected | (normal(1, 30, 40) > 1), expected) == "are True"
    assert held(~expected, expected) is None
    assert held(normal(2, 30, 40) > 0, expected) is None


def test_integers_that_are_one_off_are_found():
    expected = (normal(0, 30, 40) * 50).int()
    assert held(expected - 1, expected) == "are what is expected minus 1"


@quick
@given(shape=SHAPES, data=st.data(), seed=seeds)
def test_values_of_the_neighbour_are_found(shape, data, seed):
    dim, step = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.sampled_from([1, -1]))
    expected = normal(seed, *shape)
    where = f" in dimension {dim}" if len(shape) > 1 else ""
    got = expected.roll(-step, dim)
    if shape[dim] < 4:  # many have the neighbour on the other side
        assert f"of{where.removeprefix(' in')}" in held(got, expected)
    else:
        assert held(got, expected) == f"hold what is expected 1 place {'further on' if step > 0 else 'before'}{where}"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.flip(1), "hold what is expected in the opposite order of dimension 1"),
        (lambda t: t.roll(64), "hold what is expected 64 places before in row-major order"),
        (lambda t: t.mT.contiguous().view(48, 40), "hold the result transposed"),
        (lambda t: t[:1].expand(48, 40), "hold what is expected at index 0 of dimension 0, whatever the index"),
        (lambda t: t[torch.arange(48) % 16], "hold what is expected at index i mod 16 of dimension 0 at each index i"),
        (lambda t: t.roll(-20, 0), "hold what is expected at index (i + 20) mod 48 of dimension 0 at each index i"),
        (lambda t: t.roll(15, 0), "hold what is expected at index (i - 15) mod 48 of dimension 0 at each index i"),
        (lambda t: t[normal(1, 48).argsort()], "hold what is expected at other indices of dimension 0, at "),
    ],
)
def test_values_of_other_places_are_found(change, words):
    expected = normal(0, 48, 40)
    assert held(change(expected), expected).startswith(words)


@pytest.mark.parametrize("order", [(0, 2, 3, 1), (0, 3, 1, 2), (0, 1, 3, 2), (1, 0, 2, 3)])
def test_permuted_dimensions_are_found(order):
    expected = normal(0, 2, 8, 16, 12)
    got = expected.permute(order).reshape(expected.shape)
    assert held(got, expected) == f"hold the result with its dimensions permuted, {order}"


def test_places_of_few_different_values_show_no_move():
    expected = (normal(0, 30, 40) > 1).int() + (normal(1, 30, 40) > 1).int()
    got = 1 - expected.clamp(max=1)
    assert "place" not in (held(got, expected) or "")


@quick
@given(seed=seeds, dtype=st.sampled_from([torch.float64, torch.float32, torch.bfloat16]))
def test_arguments_that_are_left_out_are_named(seed, dtype):
    x, bias, weight = (normal(seed + i, *shape).to(dtype) for i, shape in enumerate([(4, 6, 30), (30,), (6, 1)]))
    wide = x.double()
    named = {"x": x, "bias": bias, "weight": weight}
    assert held(x, wide + bias.double(), **named) == "hold the argument 'x'"
    out = (wide * 3).to(dtype)
    assert held(out, wide * 3 + bias.double(), **named) == "are what is expected without adding 'bias'"
    assert held(out, wide * 3 * weight.double(), **named) == "are what is expected without the factor 'weight'"
    assert held(out, wide * 3, **named) is None
    twice = (wide * 3 + bias.double() * 2).to(dtype)
    assert held(twice, wide * 3 + bias.double(), **named).startswith("are what is expected with 'bias' added once more")


def test_swapped_outputs_are_named():
    low, high = normal(0, 30, 40), normal(1, 30, 40)
    wrong = torch.ones(30, 40, dtype=torch.bool)
    assert pattern_of(high, low, wrong, others={"output[1]": high}) == "they hold what is expected of output[1]"
    assert pattern_of(normal(2, 30, 40), low, wrong, others={"output[1]": high}) is None
    assert pattern_of(high, low, wrong, others={"output[1]": high[0]}) is None


@pytest.mark.parametrize("value", [0, -math.inf, 1])
def test_value_that_is_missing_everywhere_is_named(value):
    x = normal(0, 30, 40)
    expected = x.masked_fill(normal(1, 30, 40) > 0.5, value)
    assert said(x, expected) == f"they should be {value}"
    assert said(x, x.masked_fill(normal(1, 30, 40) > -0.5, value)) is None  # so should most


def test_bias_of_channels_in_the_middle_is_named():
    x, bias = normal(0, 2, 6, 9, 11), normal(1, 6)
    assert held(x, x + bias.view(6, 1, 1), bias=bias) == "are what is expected without adding 'bias'"
    words = "are off by one difference for each index of dimension 1, as without a bias"
    assert held(x, x + bias.view(6, 1, 1)) == words


def test_wrong_normalization_of_rows_is_found():
    x = normal(0, 4, 6, 50)
    softmax = x.double().softmax(-1)
    assert held(x.exp(), softmax) == "are off by one factor for each row of the last dimension"
    assert held(x[0].exp(), softmax[0]) == "are off by one factor for each index of dimension 0"


@pytest.mark.parametrize(
    ("dtype", "narrow", "words"),
    [
        (torch.float64, torch.float32, "float32"),
        (torch.float32, torch.float16, "float16 or TF32"),
        (torch.float32, torch.bfloat16, "bfloat16"),
    ],
)
def test_coarser_arithmetic_is_found(dtype, narrow, words):
    a, b = normal(0, 40, 256, dtype=dtype), normal(1, 256, 50, dtype=dtype)
    truth = a.double() @ b.double()
    wrong = torch.ones(40, 50, dtype=torch.bool)
    product = (a.to(narrow).to(dtype) @ b.to(narrow).to(dtype)).to(dtype)
    assert held(product, truth, wrong).startswith(f"have errors of the size of {words} arithmetic, ")
    assert held(truth.to(narrow).to(dtype), truth, wrong) == f"are rounded to {words.split()[0]}"


def test_operands_that_are_cut_off_are_coarser_arithmetic():
    a, b = normal(0, 40, 256).abs(), normal(1, 256, 50).abs()
    truth = a.double() @ b.double()
    short = ((t.view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (a, b))
    assert "16-bit or TF32 arithmetic" in held(torch.matmul(*short), truth)


def test_approximation_is_not_called_coarser_arithmetic():
    x = normal(0, 200, 200)
    truth, got = F.gelu(x.double()), F.gelu(x, approximate="tanh")
    assert held(got, truth, (got - truth).abs() > 1e-5) is None


def test_complex_conjugates_are_found():
    expected = torch.complex(normal(0, 30, 40), normal(1, 30, 40))
    assert held(expected.conj().resolve_conj(), expected) == "are the complex conjugates of what is expected"
    assert held(torch.zeros_like(expected), expected) == "are 0"
    assert held(expected * 2, expected) == "are 2 times what is expected"


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_every_dtype_has_patterns(dtype):
    expected = (normal(0, 30, 40) > 0) if dtype == torch.bool else (normal(0, 30, 40) * 3).to(dtype)
    cells = expected.view(torch.uint8).view(30, 40, -1)
    zeros, moved = cells.clone(), cells.roll(15, 1)
    zeros[20:] = 0
    outputs = [
        Exact().compare(call(), [made.flatten(1).view(dtype)], expected, None).outputs[0] for made in (zeros, moved)
    ]
    texts = [said(o.got, o.expected, o.wrong, x=expected, y=normal(1, 40)) for o in outputs]
    zero = "False" if dtype == torch.bool else "0"
    assert texts[0] == f"all in the tail of dimension 0, from index 20 on; they are {zero}"
    assert texts[1] is None or "(i - 15) mod 40" in texts[1]  # of few different values nothing is known


def test_large_result_is_sampled():
    expected = normal(0, 2100, 2100)
    got = expected.clone()
    got[:, 2048:] *= 3
    assert (
        said(got, expected) == "all in the tail of dimension 1, from index 2048 on; they are 3 times what is expected"
    )
    got = expected.clone()
    got[7] = 0
    assert said(got, expected) == "all at index 7 of dimension 0; they are 0"


def test_contracts_mark_wrong_elements():
    x = normal(0, 5, 7)
    off = torch.zeros(5, 7)
    off[1, 2] = off[4, 6] = 1
    assert_marks(Close().compare(call(), [x + off], x, x.double()), off)
    assert_marks(Exact().compare(call(), [x + off], x, None), off)
    z = torch.complex(x, x)
    (output,) = Close().compare(call(), [z + off * 1j], z, z.to(torch.complex128)).outputs
    assert torch.equal(output.wrong, off > 0)


def assert_marks(outcome, off):
    assert torch.equal(outcome.outputs[0].wrong, off > 0)
    assert outcome.complaints[0].startswith(f"2 wrong elements of {off.numel()}, first output[1, 2]: ")
