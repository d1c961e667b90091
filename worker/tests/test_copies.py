import pytest
import torch

from kbx.runner.copies import is_copy, is_passed_on, sample

X = torch.tensor([0.5, float("nan"), -0.0, 3.25])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn])
def test_copies_are_compared_after_rounding_to_their_dtype(dtype):
    assert is_copy(X, X.to(dtype))
    assert not is_copy(X, (2 * X).to(dtype))


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64])
def test_other_dtypes_are_compared(dtype):
    assert is_copy(torch.ones(3, dtype=dtype), torch.ones(3, dtype=dtype))
    assert not is_copy(torch.ones(3, dtype=dtype), torch.zeros(3, dtype=dtype))


def test_reshaped_tensor_may_be_a_copy():
    assert is_copy(X, X.view(2, 2).clone())
    assert not is_copy(X, X[:3].clone())
    assert not is_copy(X[:0], X[:0])


@pytest.mark.parametrize("index", [0, -1])
def test_both_ends_of_large_tensors_are_compared(index):
    x = torch.zeros(1 << 18)
    y = x.clone()
    y[index] = 1
    assert is_copy(x, x.clone()) and not is_copy(x, y)


@pytest.mark.parametrize("factor", [1.0, 1.0000001])
def test_result_up_to_rounding_is_passed_on(factor):
    x = torch.linspace(-3, 5, 1001)
    assert is_passed_on(sample(x), x * factor)
    assert not is_passed_on(sample(x), x * 1.001)
    assert not is_passed_on(sample(x), x + 0.01)
    assert not is_passed_on(sample(x), x[1:])


def test_tensor_is_compared_as_it_was():
    x = torch.linspace(-3, 5, 1001)
    before = sample(x)
    assert not is_passed_on(before, x.relu_())
    assert is_passed_on(sample(X), X.clone()) and not is_passed_on(sample(X), torch.full((4,), float("nan")))
    assert not is_passed_on(sample(torch.ones(3)), torch.ones(3, dtype=torch.int32))
