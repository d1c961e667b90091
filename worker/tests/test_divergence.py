"""The first submodule of a candidate's module that differs from the reference's, by claims that may hold anything."""

import hashlib

import pytest
import torch
from oracle_process import OracleProcess, claim

from kbx import parts, tensors
from kbx.messages import oracle as messages

TASK = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.act, self.last = torch.nn.Linear(33, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.last(self.act(self.first(x)))

def get_inputs():
    return [torch.randn(17, 33)]
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """``asked(say)``: what the oracle answers to what ``say(x, module, put)`` claims of the parts in the first call."""
    folder = tmp_path_factory.mktemp("own")
    reference, task = folder / "my_ref.py", folder / "my_task.py"
    reference.write_text(TASK)
    digest = hashlib.sha256(reference.read_bytes()).hexdigest()
    task.write_text(
        f'"""Statement."""\n\nfrom kbx.suite.original import OwnModel\n\nTAGS = ("own",)\nFILE = {str(reference)!r}\n'
        f"ORIGINAL = OwnModel(file=FILE, sha256={digest!r})\n"
    )
    oracle = OracleProcess()
    opened, runner = oracle.open(task, 1)

    def ask(say):
        prepared = oracle.ask(messages.Prepare, call=0)
        x = tensors.decode(prepared.args[0], runner.arenas["in"].view)
        scope = {}
        exec(TASK, scope)
        torch.manual_seed(opened.module["seed"])
        module = scope["Model"]()
        out = runner.arenas["out"]
        out.reset()
        return oracle.ask(messages.Locate, call=0, value=say(x, module, lambda t: claim(t, out, []))).part

    yield ask
    oracle.close()


def claimed(x, module, put, change=lambda found: found):
    with parts.noted(module) as found, torch.no_grad():
        module(x)
    return tensors.encode(change(found), put)


def test_equal_parts_have_no_first_that_differs(asked):
    assert asked(claimed) is None


@pytest.mark.parametrize("name", ["first", "act", "last"])
def test_the_first_part_that_differs_in_the_order_of_calls_is_named(asked, name):
    def say(x, module, put):
        getattr(module, name).register_forward_hook(lambda part, given, result: result * 1.01)
        return claimed(x, module, put)

    assert asked(say) == f"self.{name}"


def test_parts_that_the_candidate_lacks_are_passed_over(asked):
    def say(x, module, put):
        module.first.register_forward_hook(lambda part, given, result: result * 2)
        return claimed(x, module, put, lambda found: {name: each for name, each in found.items() if name != "first"})

    assert asked(say) == "self.act"


FALSE = {
    "no dict": lambda found: [1, 2],
    "no pair": lambda found: {"first": 3, "act": [], "last": None},
    "other counts": lambda found: {name: [count + 1, each] for name, (count, each) in found.items()},
    "integers": lambda found: {name: [count, each.long()] for name, (count, each) in found.items()},
    "other sizes": lambda found: {name: [count, each[:5]] for name, (count, each) in found.items()},
    "numbers": lambda found: {name: [count, 1.0] for name, (count, _) in found.items()},
    "other names": lambda found: {"x" * 1000: found["first"]},
}


@pytest.mark.parametrize("change", FALSE.values(), ids=FALSE)
def test_claims_of_another_form_name_nothing(asked, change):
    def say(x, module, put):
        module.first.register_forward_hook(lambda part, given, result: result * 2)
        return claimed(x, module, put, change)

    assert asked(say) is None


TENSOR = {
    "t": "tensor",
    "arena": "out",
    "offset": 1 << 50,
    "shape": [64],
    "dtype": "float32",
    "stride": [1],
    "own_stride": [1],
    "device": "cuda",
}
TREES = {
    "nothing": {}, "no tree": {"t": "dict", "v": 5},
    "outside": {"t": "dict", "v": [[{"t": "str", "v": "first"}, TENSOR]]},
    "a tensor": TENSOR,
}  # fmt: skip


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_unreadable_claims_name_nothing(asked, tree):
    assert asked(lambda *given: tree) is None


def test_a_sample_has_few_values_whatever_the_tensor():
    module = torch.nn.Sequential(*[torch.nn.Identity() for _ in range(2 * parts.MOST)])
    with parts.noted(module) as found:
        module(torch.randn(64, 1024))
    assert len(found) == parts.MOST
    count, values = found["0"]
    assert (count, values.shape) == (64 * 1024, (parts.VALUES,))
