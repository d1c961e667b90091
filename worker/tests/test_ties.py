"""Indices of equal values, in results of a user's own reference."""

import pytest
import torch
from test_own_references import own  # noqa: F401 -- a fixture

from kbx.oracle import judge, truth

X = torch.tensor([[2.0, 5.0, 5.0, 1.0, 5.0, 0.0], [0.0, 0.0, -0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])
REFERENCE = (
    "import torch\nX = torch.tensor({values})\ndef inputs():\n    return X.clone()\ndef f(x):\n    return {body}\n"
)


@pytest.fixture
def verdict(own):  # noqa: F811
    """The judgement on what ``answer(x, expected)`` returns for a reference that returns ``body`` of a tensor ``x``."""

    def ask(body, answer, x=X, device="cpu"):
        task = own(REFERENCE.format(values=x.tolist(), body=body))
        known = truth.know(task, task.call(task.cases[0], "drawn", "1"), "1")
        return judge.decide_both(task, known, [answer(known.call.args[0], known.expected)])

    return ask


def last_of_equal(x, k=3):
    """The largest ``k`` of each row and their indices, of equal ones the last."""
    values, indices = torch.sort(x.flip(-1), dim=-1, descending=True, stable=True)
    return values[..., :k], (x.shape[-1] - 1 - indices)[..., :k]


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("torch.topk(x, 3)", lambda x, _: last_of_equal(x)),
        ("tuple(torch.topk(x, 3))", lambda x, _: last_of_equal(x)),
        ("torch.topk(x, 3).indices.to(torch.int32)", lambda x, _: last_of_equal(x)[1].int()),
        (
            "torch.topk(x, 3)[1].unsqueeze(0).transpose(1, 2)",
            lambda x, _: last_of_equal(x)[1].unsqueeze(0).transpose(1, 2),
        ),
        ("torch.topk(x.t(), 3, dim=0)[1]", lambda x, _: last_of_equal(x)[1].t()),
        ("torch.argsort(x, descending=True)", lambda x, _: last_of_equal(x, 6)[1]),
        ("torch.argsort(x, descending=True)[:, :3]", lambda x, _: last_of_equal(x)[1]),
        ("torch.sort(x, descending=True)", lambda x, _: last_of_equal(x, 6)),
        ("torch.sort(x, dim=1).indices.flip(1)", lambda x, _: torch.sort(x, stable=True, descending=True)[1]),
        ("torch.kthvalue(x, 6)", lambda x, _: [t[..., 0] for t in last_of_equal(x)]),
        ("torch.kthvalue(x, 6, keepdim=True)[1]", lambda x, _: last_of_equal(x, 1)[1]),
        ("torch.topk(x, 3, sorted=False)", lambda x, _: [t.flip(-1) for t in last_of_equal(x)]),
        (
            "(lambda t: {'w': t[0] / (1 + t[0].sum(-1, keepdim=True)), 'ids': t[1].int()})(torch.topk(x, 3, sorted=False))",
            lambda x, _: (
                lambda v, i: {"w": v.roll(1, -1) / (1 + v.sum(-1, keepdim=True)), "ids": i.roll(1, -1).int()}
            )(*last_of_equal(x)),
        ),
        ("torch.topk(x[1].abs(), 2)[1]", lambda x, _: torch.tensor([5, 3])),
        ("{'ids': torch.topk(torch.softmax(x, -1), 3)[1]}", lambda x, _: {"ids": last_of_equal(x)[1]}),
    ],
)
def test_indices_of_equal_values_are_right_where_no_order_is_promised(verdict, body, answer):
    def form(x, expected):
        made = answer(x, expected)
        assert not judge.same_bits(made, expected)
        return tuple(made) if isinstance(made, list) else made

    judgement = verdict(body, form)
    assert judgement.status == "correct", judgement.message
    assert judgement.published


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("torch.topk(x, 3)[1]", lambda x, e: torch.zeros_like(e)),
        ("torch.topk(x, 3)[1]", lambda x, e: torch.full_like(e, 6)),
        ("torch.topk(x, 3)[1]", lambda x, e: e.flip(-1)),
        ("torch.topk(x, 3, sorted=False)", lambda x, e: (e[0], e[1].flip(-1))),
        ("torch.topk(x, 3, sorted=False)[1]", lambda x, e: last_of_equal(-x)[1]),
        ("torch.topk(x, 3)[1]", lambda x, e: e - 6),
        ("torch.topk(x, 3)[1]", lambda x, e: e.roll(1, 0)),
        ("torch.argsort(x)", lambda x, e: torch.argsort(x, descending=True)),
        ("torch.topk(x, 3)[1] + 1", lambda x, e: last_of_equal(x)[1] + 1),
        ("torch.topk(x, 3)[1]", lambda x, e: e[:, :1].expand(3, 3).contiguous()),
    ],
)
def test_indices_of_other_values_and_of_one_value_twice_are_wrong(verdict, body, answer):
    assert verdict(body, answer).status == "wrong_values"


def test_one_index_twice_is_told(verdict):
    def twice(x, expected):
        made = expected.clone()
        made[1] = made[1, 0]
        return made

    judgement = verdict("torch.topk(x, 3)[1]", twice)
    assert judgement.message.endswith("; output: the values are equal, but an index occurs twice")


@pytest.mark.parametrize(
    ("body", "answer", "promised"),
    [
        ("torch.argmax(x, -1)", lambda x, _: last_of_equal(x, 1)[1][:, 0], "the first"),
        ("x.max(-1).indices", lambda x, _: last_of_equal(x, 1)[1][:, 0], "the first"),
        ("torch.argmax(torch.softmax(x, -1), -1)", lambda x, _: last_of_equal(x, 1)[1][:, 0], "the first"),
        ("torch.argmin(-x, -1)", lambda x, _: last_of_equal(x, 1)[1][:, 0], "the first"),
        ("torch.sort(x, descending=True, stable=True)[1]", lambda x, _: last_of_equal(x, 6)[1], "their order"),
        ("torch.argsort(x, descending=True, stable=True)", lambda x, _: last_of_equal(x, 6)[1], "their order"),
    ],
)
def test_where_an_order_is_promised_it_is_asked_for_and_the_message_says_that_values_agree(
    verdict, body, answer, promised
):
    judgement = verdict(body, answer)
    assert judgement.status == "wrong_values"
    assert judgement.message.endswith(f"of these indices the values are equal, of which PyTorch promises {promised}")


@pytest.mark.parametrize("cast", ["x", "x.float()"])
@pytest.mark.parametrize("operation", ["torch.topk(p, 2)[1][:, 0]", "torch.argmax(p, -1)"])
def test_values_that_rounding_tells_apart_may_change_places(verdict, operation, cast):
    x = torch.tensor([[0.1, 0.3, 0.3 + 3e-8, -1.0], [0.0, 1.0, 2.0, 3.0]])
    body = f"(lambda p: {operation})(torch.softmax({cast} * 1.7, -1))"
    judgement = verdict(body, lambda _, e: torch.tensor([3 - int(e[0]), 3]), x)
    assert judgement.status == "correct", judgement.message
    further = x + torch.tensor([0.0, 0.0, 1e-3, 0.0])
    assert verdict(body, lambda _, e: torch.tensor([1, 3]), further).status == "wrong_values"


@pytest.mark.parametrize("operand", ["x", "x.t().contiguous().t()", "x.to(torch.float64)", "x[:, :4].unsqueeze(0)[0]"])
def test_values_that_were_given_are_not_rounded(verdict, operand):
    x = torch.tensor([[0.1, 0.3, 0.3 + 3e-8, -1.0]])
    assert verdict(f"torch.topk({operand}, 1)[1]", lambda _, e: 3 - e, x).status == "wrong_values"
