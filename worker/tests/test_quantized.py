"""Tasks with several right schemes: one of them, the same in all calls."""

import pytest
import torch
from oracle_process import SEED, TASKS

from kbx.messages import oracle as messages
from kbx.oracle import judge, taskfile, truth
from kbx.suite import Inputs, Schemes, call, quantized

DIMS = dict(row=(1,), tensor=(0, 1))


def rounded(x, scale):
    s = quantized.scale_of(x, DIMS[scale])
    return torch.round(x / s) * s


def emulated(x, scale):
    levels = quantized.levels(x, DIMS[scale])
    return levels.value, levels.error + 4 * quantized.ULP * levels.value.abs()


@pytest.fixture
def contract():
    return Schemes(emulated, rounded, tuple({"scale": s} for s in DIMS)).begun()


def said(contract, x, result, *others):
    return contract.compare(call(x, *others), [result], None, None).complaints


def spread(seed):
    return Inputs(seed=seed).floats(9, 40) * torch.tensor([1.0, 0.1, 8.0]).repeat(3)[:, None]


@pytest.mark.parametrize("scale", DIMS)
def test_each_scheme_is_right_in_all_calls(contract, scale):
    assert [said(contract, x, rounded(x, scale)) for x in map(spread, range(4))] == [[]] * 4


def test_result_of_several_schemes_excludes_none(contract):
    x = Inputs().floats(1, 40)
    assert said(contract, x, rounded(x, "row")) == []
    assert said(contract, spread(1), rounded(spread(1), "tensor")) == []


def test_changed_scheme_is_wrong(contract):
    assert said(contract, spread(1), rounded(spread(1), "row")) == []
    (text,) = said(contract, spread(2), rounded(spread(2), "tensor"))
    assert text.startswith("earlier results were right by one scheme (scale: row); by it, ")
    assert text.endswith("By another scheme (scale: tensor) this result is right")
    assert said(contract, spread(2), rounded(spread(2), "row")) == []


def test_wrong_result_excludes_no_scheme(contract):
    (text,) = said(contract, spread(1), spread(1))
    assert text.startswith("right by none of 2 schemes; by the nearest (scale: row): ")
    assert said(contract, spread(1), rounded(spread(1), "tensor")) == []


def test_subnormal_numbers_may_be_flushed():
    x = torch.tensor([[1.0]])
    contract = Schemes(lambda x: (x.double() * 1e-49, x.double() * 1e-52), lambda x: x * 0)
    assert said(contract, x, torch.zeros(1, 1)) == []
    assert said(contract, x, torch.full((1, 1), 1e-37))


def test_excluded_schemes_are_per_candidate():
    task = Schemes(emulated, rounded, tuple({"scale": s} for s in DIMS))
    for scale in DIMS:
        assert said(task.begun(), spread(1), rounded(spread(1), scale)) == []


def test_later_session_keeps_excluded_schemes(contract):
    assert contract.schemes_left == [0, 1]
    assert said(contract, spread(1), rounded(spread(1), "tensor")) == []
    assert contract.schemes_left == [1]
    later = contract.begun(contract.schemes_left)
    assert said(later, spread(2), rounded(spread(2), "row"))
    assert said(later, spread(2), rounded(spread(2), "tensor")) == []
    assert contract.begun().schemes_left == [0, 1]


def product(x, w, guard=0.0, shifted=False):
    """Of float32 matrices in levels of rows and columns; rows of ``x`` are asymmetric if ``shifted``."""
    s, t = x.abs().amax(1, keepdim=True) / 127 + guard, w.abs().amax(0, keepdim=True) / 127 + guard
    q, r = torch.round(x / s), torch.round(w / t)
    if shifted:
        low, high = x.amin(1, keepdim=True).clamp(max=0), x.amax(1, keepdim=True).clamp(min=0)
        s = (high - low) / 255
        zero = torch.round(-low / s)
        q = (torch.round(x / s) + zero).clamp(0, 255) - zero
    return (q.double() @ r.double()).float() * s * t


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", [1, 1e-3, 1e-6])
def test_guard_of_a_scale_is_no_scheme(size, seed):
    make = Inputs(seed=seed)
    x, w = make.floats(21, 130) * size, make.floats(130, 17)
    contract = taskfile.load(TASKS / "Quantization" / "matmul_w8a8.py").contract
    for guard in (0.0, 1e-10, 1e-8):
        assert said(contract, x, product(x, w, guard), w) == []
    for wrong in (product(x, w, 1e-8 + 2e-3 * size), x @ w):
        assert said(contract, x, wrong, w) or size == 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_asymmetric_levels_are_a_scheme(seed):
    make = Inputs(seed=seed)
    x, w = make.floats(2, 21, 130) + 0.5, make.floats(2, 130, 17)
    contract = taskfile.load(TASKS / "Quantization" / "bmm_w8a8.py").contract.begun()
    results = [
        torch.stack([product(*pair, shifted=shifted) for pair in zip(x, w, strict=True)]) for shifted in (True, False)
    ]
    assert said(contract, x, results[0], w) == []
    assert [contract.schemes[i]["asymmetric"] for i in contract.schemes_left] == ["activations"]
    assert said(contract, x, results[1], w)


@pytest.mark.parametrize(("divisor", "most"), [(7, 7), (7.5, 7), (8, 7), (6, 7), (15, 7)])
def test_divisors_of_int4_scales(divisor, most):
    make = Inputs("float16", seed=4)
    x, w = make.floats(9, 200), make.floats(31, 200)
    contract = taskfile.load(TASKS / "Quantization" / "linear_w4a16.py").contract.begun()
    s = w.float().abs().amax(1, keepdim=True) / divisor
    q = torch.round(w.float() / s).clamp(-8, most)
    assert (said(contract, x, (x.float() @ (q * s).T).half(), w) == []) is (divisor in (7, 7.5, 8))


def test_the_last_bit_may_round_a_half_either_way():
    x = torch.tensor([[127.0, 2.5, -3.5, 4.0]])
    contract = Schemes(emulated, rounded, ({"scale": "row"},))
    for halves in ([2, -3], [3, -4]):
        assert said(contract, x, torch.tensor([[127.0, *halves, 4.0]])) == []
    assert said(contract, x, torch.tensor([[127.0, 0.0, -3.0, 4.0]]))
    assert said(contract, x, torch.tensor([[127.0, 2.0, -3.0, 5.0]]))


NAMES = ("attention_w8a8", "bmm_w8a8", "conv2d_w8a8", "layernorm_w8a8", "linear_w4a16", "matmul_w8a8")


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [SEED, "ab"])
def test_only_the_schemes_pass(oracle, name, seed):
    path = str(TASKS / "Quantization" / f"{name}.py")
    rows = oracle.ask(messages.VerifyTask, task=path, seed=seed).controls
    assert [row["name"] for row in rows if not row["ok"]] == []
    schemes = len(taskfile.load(path).contract.schemes)
    by = [row for row in rows if row["name"].startswith("positive_by[")]
    assert len(by) == (schemes if schemes > 1 else 0)


def test_timed_results_use_one_scheme():
    """Where a result equals the reference's bit for bit, it must still be by the scheme of the earlier ones."""
    task = taskfile.load(TASKS / "Quantization" / "bmm_w8a8.py").begun()
    other = task.contract.schemes[-1]
    made = [task.call(task.cases[1], "standard", seed, "cpu") for seed in ("1", "2")]

    def judged(made, value):
        def examined(known):
            return judge.examine_own(task, known, value, truth.copy_call(made))

        return judge.judge_made(task, lambda: made, "1", examined).status

    assert judged(made[0], task.contract.honest(*made[0].args, **other)) == "correct"
    assert judged(made[1], task.reference(*made[1].args)) == "wrong_values"
