"""Which configurations of an autotuner run where nothing is timed: each in turn, until all have."""

import pytest
import torch
from bench_client import bench

from kbx.messages import runner as messages

ADD = """
seen = []

@triton.autotune(configs=[{configs}], key=[{key}], {options})
@triton.jit
def add_kernel(x, out, n, B: tl.constexpr, ONE: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) + ONE, mask=i < n)

def run(x):
    out = torch.empty_like(x)
    n = x.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["B"]),)](x, out, n)
    return out
"""


def config(block, one=1, more=""):
    return f"triton.Config(dict(B={block}, ONE={one}){more})"


def add(*configs, key="'n'", options=""):
    return ADD.format(configs=", ".join(configs), key=key, options=options)


def added(client, size, tuning):
    """What a call adds, and the answer."""
    answer = client.call(torch.zeros(size), tuning=tuning)
    assert isinstance(answer, messages.Returned), answer
    (one,) = client.result(answer).unique().tolist()
    return one, answer


def test_each_call_takes_another_configuration():
    with bench(add(config(32, 1), config(64, 2), config(128, 3))) as client:
        one, answer = added(client, 100, tuning=0)
        assert one == 1 and answer.configurations == ["add_kernel(B=32, ONE=1, num_warps=4, num_stages=3)"]
        assert answer.untried == {"tuning": 0, "configurations": 2}
        one, answer = added(client, 100, tuning=1)
        assert one == 2 and answer.untried["configurations"] == 1
        one, answer = added(client, 100, tuning=-1)
        assert one == 3 and answer.untried is None
        assert [added(client, 100, tuning)[0] for tuning in (0, 1, -1, 7)] == [1, 2, 3, 1]


def test_small_tensors_do_not_settle_a_configuration():
    with bench(add(config(32, 1), config(64, 2), config(128, 3))) as client:
        assert [added(client, 10, tuning)[0] for tuning in (0, 1)] == [1, 2]
        one, answer = added(client, 100, tuning=2)
        assert one == 3 and answer.untried == {"tuning": 2, "configurations": 2}
        assert [added(client, 10, tuning)[0] for tuning in (3, 4)] == [1, 2]
        assert [added(client, 100, tuning)[0] for tuning in (5, 6)] == [1, 2]
        assert added(client, 10, tuning=7)[1].untried is None


def test_launches_of_one_call_share_the_configuration_of_a_key():
    source = (
        add(config(32, 1), config(64, 2))
        + "\ndef twice(x):\n    return run(x) + 10 * run(x[:]) + 100 * run(x[:8])[0]\n"
    )
    with bench(source, "twice") as client:
        assert [added(client, 100, tuning)[0] for tuning in (0, 1)] == [211, 122]


@pytest.mark.later
def test_configurations_that_do_not_compile_or_fit_are_left_out():
    source = """
    @triton.autotune(configs=[triton.Config(dict(B=b, WHAT=what)) for b, what in ((16, 1), (16, 2), (256, 0), (32, 0))], key=["n"])
    @triton.jit
    def kernel(x, out, n, B: tl.constexpr, WHAT: tl.constexpr):
        tl.static_assert(WHAT < 2)
        i, j = tl.arange(0, B)[:, None] % n, tl.arange(0, B)[None, :] % n
        a = tl.load(x + i * n + j)
        tl.store(out + i * n + j, tl.dot(a, a) if WHAT == 0 else a)

    def run(x):
        out = torch.empty_like(x)
        kernel[(1,)](x, out, x.shape[0])
        return out, kernel.best_config.kwargs["B"]
    """
    with bench(source) as client:
        answers = [client.call(torch.eye(16), tuning=tuning) for tuning in range(3)]
        assert [client.result(answer)[1] for answer in answers] == [16, 32, 16]
        assert [answer.untried and answer.untried["configurations"] for answer in answers] == [3, None, None]


def test_pruning_decides_for_each_key():
    pruned = """prune_configs_by=dict(
        early_config_prune=lambda configs, args, **_: [c for c in configs if c.kwargs["B"] <= args["n"]],
        perf_model=lambda B, **_: 1 / B, top_k=2,
    )"""
    with bench(add(config(32, 1), config(64, 2), config(128, 3), options=pruned)) as client:
        assert added(client, 32, tuning=0)[0] == 1
        one, answer = added(client, 64, tuning=1)  # the model prefers large blocks
        assert one == 2 and answer.untried == {"tuning": 1, "configurations": 1}
        one, answer = added(client, 128, tuning=2)
        assert one == 3 and answer.untried == {"tuning": 2, "configurations": 2}
        one, answer = added(client, 128, tuning=3)
        assert one == 2 and answer.untried == {"tuning": 1, "configurations": 1}
        one, answer = added(client, 64, tuning=-1)
        assert one == 1 and answer.untried is None


def test_in_place_kernels_show_by_their_first_launch_alone():
    source = """
    @triton.autotune(configs=[triton.Config(dict(B=64)), triton.Config(dict(B=128))], key=["n"], {options})
    @triton.jit
    def kernel(x, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

    def run(x):
        x = x.clone()
        kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, x.numel())
        return x
    """
    for options, factors in (("restore_value=['x']", [2, 2, 2]), ("", [4, 2, 2])):
        with bench(source.format(options=options)) as client:
            got = [client.result(client.call(torch.ones(100), tuning=tuning)) for tuning in range(3)]
        assert [each.unique().tolist() for each in got] == [[factor] for factor in factors]


def test_results_are_reset_in_tuning_only():
    """As on a GPU, where an accumulator that relies on ``reset_to_zero`` is wrong from the second call on."""
    source = """
    @triton.autotune(configs=[triton.Config(dict(B=64)), triton.Config(dict(B=128))], key=["n"], reset_to_zero=["out"])
    @triton.jit
    def kernel(x, out, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0)))

    def run(x):
        out = torch.ones(1, device=x.device)
        kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, out, x.numel())
        return out
    """
    with bench(source) as client:
        got = [client.result(client.call(torch.ones(100), tuning=tuning)).item() for tuning in range(3)]
    assert got == [100, 101, 101]


def test_hooks_of_configurations_run_once_a_launch():
    hooked = [config(block, 1, ", pre_hook=lambda args: seen.append(args['B'])") for block in (32, 64)]
    with bench(add(*hooked) + "\ndef hooks(x):\n    return run(x), list(seen)\n", "hooks") as client:
        got = [client.result(client.call(torch.ones(100), tuning=tuning))[1] for tuning in range(3)]
    assert got == [[32, 32], [32, 32, 64], [32, 32, 64, 32]]


@pytest.mark.parametrize(
    "options", ["cache_results=True", "do_bench=lambda call, quantiles: [call() or 0.1] * 3", "use_cuda_graph=True"]
)
def test_options_of_the_tuner_change_nothing(options):
    with bench(add(config(32, 1), config(64, 2), options=options)) as client:
        assert [added(client, 100, tuning)[0] for tuning in range(4)] == [1, 2, 1, 1]


def test_heuristics_and_two_kernels_in_one_file():
    source = """
    @triton.autotune(configs=[triton.Config(dict(B=32, ONE=1)), triton.Config(dict(B=64, ONE=2))], key=["n"])
    @triton.heuristics({"EVEN": lambda args: args["n"] % args["B"] == 0})
    @triton.jit
    def first(x, n, B: tl.constexpr, ONE: tl.constexpr, EVEN: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(x + i, ONE, mask=None if EVEN else i < n)

    @triton.heuristics({"EVEN": lambda args: False})
    @triton.autotune(configs=[triton.Config(dict(B=32, ONE=one)) for one in (10, 20, 30)], key=[])
    @triton.jit
    def second(x, n, B: tl.constexpr, ONE: tl.constexpr, EVEN: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(x + i, tl.load(x + i, mask=i < n) + ONE, mask=i < n)

    def run(x):
        out = torch.empty_like(x)
        for kernel in (first, second):
            kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](out, x.numel())
        return out
    """
    with bench(source) as client:
        got = [added(client, 100, tuning) for tuning in range(3)]
        assert [one for one, _ in got] == [21, 22, 31]  # the second adds in place, and its first launch runs twice
        assert [answer.untried and answer.untried["configurations"] for _, answer in got] == [3, 1, None]
        assert [text.partition("(")[0] for text in got[0][1].configurations] == ["first", "second"]


def test_a_tuner_made_in_every_call_goes_on():
    source = """
    def run(x):
        @triton.autotune(configs=[triton.Config(dict(B=32, ONE=1)), triton.Config(dict(B=64, ONE=2))], key=["n"])
        @triton.jit
        def kernel(out, n, B: tl.constexpr, ONE: tl.constexpr):
            i = tl.program_id(0) * B + tl.arange(0, B)
            tl.store(out + i, ONE, mask=i < n)

        out = torch.empty_like(x)
        kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](out, x.numel())
        return out
    """
    with bench(source) as client:
        assert [added(client, 100, tuning)[0] for tuning in range(3)] == [1, 2, 1]


def test_launches_of_an_import_do_not_count_and_those_of_the_first_call_alone_name_it():
    source = (
        add(config(32, 1), config(64, 2))
        + """
run(torch.zeros(4096, device="cuda"))

def once(x):
    if not seen:
        seen.append(run(torch.zeros(2048, device=x.device)))
    return run(x)
"""
    )
    with bench(source, "once") as client:
        got = [added(client, 100, tuning)[1].untried for tuning in range(3)]
    assert got == [{"tuning": 0, "configurations": 1}] * 3


def test_calls_without_a_turn_take_the_first_configuration_and_count_for_nothing():
    with bench(add(config(32, 1), config(64, 2))) as client:
        assert [added(client, 100, tuning)[0] for tuning in (None, 0, None, 1, None)] == [1, 1, 1, 2, 1]


def test_failures_name_the_configuration():
    source = (
        add(config(32, 1), config(64, 2))
        + """
def fails(x):
    out = run(x)
    if out[0].item() == 2:
        raise ValueError("two")
    return out
"""
    )
    with bench(source, "fails") as client:
        added(client, 100, tuning=0)
        answer = client.call(torch.zeros(100), tuning=1)
    assert answer.message == "two; with configuration add_kernel(B=64, ONE=2, num_warps=4, num_stages=3)"
