"""What the forward of a module changes beside its result: running statistics, counters, caches."""

import pytest
import torch
from test_original_models import imported  # noqa: F401 -- a fixture
from test_own_references import own  # noqa: F401

from kbx.oracle import controls, judge, taskfile, truth
from kbx.oracle.plan import plan
from kbx.oracle.task import InvalidTask

MODEL = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
        {forward}


def get_inputs():
    return [torch.randn(6, 5) + 1]
"""
NORM = MODEL.format(
    init='self.bn = nn.BatchNorm1d(5)\n        self.register_buffer("table", torch.ones(5))',
    forward="return self.bn(x) * self.table",
)
COUNTER = MODEL.format(
    init='self.register_buffer("step", torch.zeros((), dtype=torch.long))',
    forward="self.step += 1\n        return x * self.step",
)
CACHE = MODEL.format(
    init='self.register_buffer("cache", torch.zeros(6, 5))',
    forward="self.cache.mul_(0.5).add_(x)\n        return self.cache",
)


def bound(own, text):  # noqa: F811
    return own(text, "ModelNew").seeded("7")


def first_calls(task):
    return [call for call in plan(task, "7") if not call.properties and call.repeats is None]


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (NORM, ("bn.running_mean", "bn.running_var")),
        (NORM.replace("(5)", "(5, momentum=None)", 1), ("bn.running_mean", "bn.running_var", "bn.num_batches_tracked")),
        (COUNTER, ("step",)),
        (CACHE, ("cache",)),
        (
            MODEL.format(
                init='self.register_buffer("n", torch.zeros(1))', forward="self.n = self.n + 1\n        return x"
            ),
            ("n",),
        ),
        (
            MODEL.format(
                init='self.register_buffer("n", torch.zeros(1))',
                forward="if x.sum() > 0:\n            self.n += x.max()\n        return x",
            ),
            ("n",),
        ),
        (MODEL.format(init="self.bn = nn.BatchNorm1d(5).eval()", forward="return self.bn(x)"), ()),
    ],
)
def test_buffers_that_a_call_changes_are_known(own, text, state):  # noqa: F811
    assert own(text, "ModelNew").state == state


def test_calls_begin_with_the_state_of_a_new_module_and_of_a_used_one_in_turn(own):  # noqa: F811
    task = bound(own, COUNTER)
    steps = [call.made(task, "cpu").kwargs["self"]["step"].item() for call in first_calls(task)]
    assert steps == [0, 1, 0, 1, 0]


def test_every_call_is_judged_from_the_state_that_it_was_given(own):  # noqa: F811
    task = bound(own, NORM)
    for planned in first_calls(task) * 2:
        known = truth.know(task, planned.made(task, "cpu"), "7")
        before = known.call.kwargs["self"]
        assert set(known.expected) == {"output", *(f"self.{name}" for name in before)}
        mean = 0.9 * before["bn.running_mean"] + 0.1 * known.call.args[0].mean(0)
        torch.testing.assert_close(known.expected["self.bn.running_mean"], mean)


def verdict(task, planned, spoil):
    """The judgement on the reference's own call after ``spoil(held)`` has changed what the module holds."""
    known = truth.know(task, planned.made(task, "cpu"), "7")
    mine = truth.copy_call(known.call)
    with torch.no_grad():
        value = task.reference(*mine.args, **mine.kwargs)
    spoil(mine.kwargs["self"], known.call.kwargs["self"])
    examined = judge.examine_own(task, known, value, mine)
    assert examined.read
    return judge.decide_both(task, known, [examined.value])


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("bn.running_mean", lambda now, before: now.copy_(before)),
        ("bn.running_var", lambda now, before: now.mul_(5 / 6)),
    ],
)
def test_state_that_was_not_updated_is_wrong(own, turn, name, spoil):  # noqa: F811
    task = bound(own, NORM)
    judgement = verdict(task, first_calls(task)[turn], lambda now, before: spoil(now[name], before[name]))
    assert judgement.status == "wrong_values"
    assert f"first self.{name}" in judgement.message
    assert verdict(task, first_calls(task)[turn], lambda now, before: None).status == "correct"


@pytest.mark.parametrize("text", [COUNTER, CACHE], ids=["counter", "cache"])
def test_a_module_whose_result_depends_on_its_buffers_is_judged(own, text):  # noqa: F811
    rows = controls.verify(own(text, "ModelNew"), "7", torch.device("cpu"))
    assert [row["name"] for row in rows if not row["ok"]] == []


def test_results_of_earlier_calls_are_not_overwritten_by_later_ones(own):  # noqa: F811
    task = bound(own, CACHE)
    first, second = (truth.know(task, call.made(task, "cpu"), "7") for call in first_calls(task)[:2])
    torch.testing.assert_close(first.returned, first.call.args[0])
    assert not torch.equal(first.returned, second.returned)


def test_state_that_is_no_buffer_is_refused_where_results_depend_on_it(own):  # noqa: F811
    text = MODEL.format(init="self.n = 0", forward="self.n += 1\n        return x * self.n")
    with pytest.raises(InvalidTask, match=r"keeps state between calls \(self.n\): .* registered as a buffer is judged"):
        own(text, "ModelNew")


def test_what_depends_on_earlier_calls_is_not_timed(own, monkeypatch):  # noqa: F811
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert own(NORM, "ModelNew", "cuda:0").sizes
    assert not own(COUNTER, "ModelNew", "cuda:0").sizes


def test_a_forward_that_takes_no_state_is_called_as_always(own):  # noqa: F811
    task = bound(own, MODEL.format(init="self.w = nn.Parameter(torch.ones(5))", forward="return x * self.w"))
    assert all("self" not in call.made(task, "cpu").kwargs for call in plan(task, "7"))


def test_imported_modules_are_asked_for_state_beyond_the_published_grade(imported, tmp_path):  # noqa: F811
    file = tmp_path / "originals" / "norm.py"
    file.parent.mkdir()
    file.write_text(NORM + "\n\ndef get_init_inputs():\n    return []\n")
    task = taskfile.load(imported(str(file)), "cpu").seeded("7")
    calls = plan(task, "7")
    asking = [call for call in calls if "self" in call.made(task, "cpu").kwargs]
    assert [call.properties for call in asking] == [{"state_output"}]
    assert any(not call.properties for call in calls)
    assert verdict(task, asking[0], lambda now, before: now["bn.running_var"].fill_(1)).status == "wrong_values"
