"""Contracts that ask the task: properties of answers that are not unique, and random operations."""

import pytest
import torch
import torch.nn.functional as F

from kbx.oracle import judge
from kbx.suite import Close, Inputs, Property, Random, call


def qr_check(args, kwargs, result, expected):
    a, (q, r) = args[0], result
    limit = 10 * torch.finfo(a.dtype).eps * max(a.shape)
    complaints = []
    if (q @ r - a).norm() > limit * a.norm():
        complaints.append("Q R is not A")
    if (q.mT @ q - torch.eye(q.shape[-1])).norm() > limit:
        complaints.append("Q is not orthogonal")
    if not torch.equal(r, r.triu()):
        complaints.append("R is not upper triangular")
    return complaints


@pytest.mark.parametrize("seed", range(4))
def test_property_check_accepts_all_correct_answers(seed):
    a = Inputs(seed=seed).well_conditioned(9, 5)
    q, r = torch.linalg.qr(a)
    contract = Property(qr_check)
    assert contract.compare(call(a), [(q, r)], (q, r), None).right
    assert contract.compare(call(a), [(-q, -r)], (q, r), None).right
    outcome = contract.compare(call(a), [(q.half().float(), r)], (q, r), None)
    assert outcome.complaints == ["Q R is not A", "Q is not orthogonal"]


def test_check_that_raises_rejects():
    def check(args, kwargs, result, expected):
        return [] if torch.linalg.inv(result) is not None else []

    assert not Property(check).compare(call(), [torch.zeros(3, 3)], None, None).right


def dropout_check(args, kwargs, results, expected):
    x, p = args
    complaints = []
    for y in results:
        kept = y != 0
        if not torch.allclose(y[kept], x[kept] / (1 - p)):
            complaints.append("kept values are not scaled by 1 / (1 - p)")
        if abs(kept.float().mean().item() - (1 - p)) > 5 * (p * (1 - p) / x.numel()) ** 0.5:
            complaints.append(f"the keep rate is not {1 - p}")
    if len(results) > 1 and torch.equal(results[0], results[1]):
        complaints.append("two calls dropped the same elements")
    return complaints


def test_random_judges_by_distribution():
    x = Inputs().floats(1000).abs() + 0.1
    contract = Random(dropout_check)
    draws = [F.dropout(x, 0.3) for _ in range(2)]
    assert contract.compare(call(x, 0.3), draws, draws[0], None).right
    assert contract.compare(call(x, 0.3), draws[:1], draws[0], None).right
    assert not contract.compare(call(x, 0.3), [draws[0]] * 2, draws[0], None).right
    assert not contract.compare(call(x, 0.3), [x, x / 0.7], draws[0], None).right


def test_scale_may_depend_on_the_call():
    x = torch.tensor([[1e4, 1.0, -1e4]])
    reordered = torch.tensor([1.0009765625])
    contract = Close(scale=lambda x, dim: x.double().norm(dim=dim))
    assert contract.compare(call(x, 1), [reordered], x.sum(1), x.double().sum(1)).right
    assert not Close().compare(call(x, 1), [reordered], x.sum(1), x.double().sum(1)).right


@pytest.mark.parametrize("unit", [1.0, 1j, 1 + 1j])
def test_python_numbers_are_as_near_as_tensors(unit):
    def right(got):
        return Close().compare(call(), [{"sum": got * unit}], {"sum": 3.0 * unit}, {"sum": 3.0 * unit}).right

    assert right(3.0) and right(3.000001)
    assert not right(3.001)
    assert not right(float("nan"))
    assert not right(float("inf"))


def test_options_are_named():
    with pytest.raises(TypeError):
        Property()
    assert Property(qr_check).check is qr_check
    assert Close(strides="contiguous").strides == "contiguous"


def test_bits_of_one_strided_element_are_compared():
    assert judge.equal_bits(torch.ones(2)[::2], torch.ones(1))
    assert not judge.equal_bits(torch.ones(2)[::2], torch.zeros(1))


def test_failed_check_has_a_message():
    def check(args, kwargs, result, expected):
        return result[7]

    outcome = Property(check).compare(call(), [(torch.ones(1),)], None, None)
    assert outcome.complaints == ["the check could not be carried out: IndexError: tuple index out of range"]
