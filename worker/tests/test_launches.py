"""What wrappers can ask of a launch: Triton's own objects, with a real compiler's figures, and hooks that run."""

import pytest
import torch
import triton
from bench_client import bench
from triton.runtime.autotuner import Autotuner

from kbx.runner import tuning

SCALE = """
@triton.autotune(
    configs=[triton.Config({{"B": 64}}, pre_hook=seen.append), triton.Config({{"B": 128}}, pre_hook=seen.append)],
    key=["n"], {options}
)
@triton.jit
def kernel(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

def run(x):
    x = x.clone()
    kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, x.numel())
    return x, len(seen), kernel.best_config.kwargs["B"]
"""


def test_autotuning_takes_the_first_configuration_and_runs_it_twice():
    """Once to try it and once for the caller, as on a GPU, where an in-place kernel without ``restore_value`` shows it."""
    for options, factor in (("restore_value=['x']", 2), ("", 4)):
        with bench("seen = []\n" + SCALE.format(options=options)) as client:
            got, hooks, block = client.run(torch.ones(100))
        assert got.unique().tolist() == [factor] and hooks == 2 and block == 64


FORKING = """
import os

@triton.jit
def kernel(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1)

def launched(x, block):
    child = os.fork()
    if not child:
        kernel[(1,)](x, B=block)
        os._exit(0)
    os.waitpid(child, 0)

def run(x):
    launched(x, 32)
    kernel[(1,)](x, B=64)
    kernel[(1,)](x, B=64)
    with contextlib.suppress(Exception):
        kernel[(1,)](x, B=65)
    return x
"""


def test_compilation_is_announced():
    """Not what a forked process compiles, nor what is there already; and the end also where a kernel does not compile."""
    with bench("import contextlib\n" + FORKING) as client:
        client.run(torch.zeros(64))
        assert client.compiling == [True, False, True, False]


def test_a_launch_returns_the_compiled_kernel():
    source = """
    @triton.jit
    def kernel(x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), 1)

    def run(x):
        early = kernel.warmup(x, B=64, grid=(1,))
        early._init_handles()
        compiled = kernel[(1,)](x, B=64)
        return compiled.n_regs, compiled.n_spills, compiled.metadata.num_warps, early.metadata.shared
    """
    with bench(source) as client:
        registers, spills, warps, shared = client.run(torch.zeros(64))
    assert registers > 0 and (spills, warps, shared) == (0, 4, 0)


def test_spills_are_reported():
    source = """
    @triton.jit
    def kernel(x, out, B: tl.constexpr):
        i = tl.arange(0, B)
        v = tl.load(x + i)  # 64 values for each thread, needed once more when their sum is known
        tl.store(out + i, v * tl.sum(v, 0))

    def run(x):
        out = torch.empty_like(x)
        kernel[(1,)](x, out, B=2048, num_warps=1, maxnreg=32)
        return out
    """
    with bench(source) as client:
        reply = client.call(torch.randn(2048))
    assert reply.compiled[0]["spills"] > 0 and reply.compiled[0]["registers"] <= 32


def test_changing_a_global_after_compiling_is_an_error_as_on_a_gpu():
    source = """
    FACTOR = tl.constexpr(2)

    @triton.jit
    def kernel(x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), FACTOR)

    def run(x):
        global FACTOR
        kernel[(1,)](x, B=64)
        FACTOR = tl.constexpr(3)
        kernel[(1,)](x, B=64)
    """
    with bench(source) as client:
        assert client.call(torch.zeros(64)).kind == "runtime"


def test_an_empty_grid_launches_nothing():
    source = """
    @triton.jit
    def kernel(x):
        tl.store(x, 1.0)

    def run(x):
        kernel[(0,)](x)
        return x
    """
    with bench(source) as client:
        assert client.run(torch.zeros(1)).item() == 0


def test_every_architecture_compiles():
    source = """
    @triton.jit
    def kernel(x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), 1)

    def run(x):
        kernel[(1,)](x, B=64)
    """
    for arch in ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100"):
        with bench(source, arch=arch) as client:
            (compiled,) = client.call(torch.zeros(64)).compiled
        assert compiled["arch"] == arch and compiled["registers"] > 0


@pytest.mark.parametrize(
    ("timed", "ms", "asked"), [(False, 0.1, (1, 1)), (True, 0.1, (2, 2)), (True, 4.0, (2, 10)), (True, 40.0, None)]
)
def test_tuners_time_each_configuration_briefly(timed, ms, asked, monkeypatch):
    asks, now = [], [0.0]

    def stock(call, **options):
        asks.append((options["warmup"], options["rep"]))
        return [0.1, 0.1, 0.1]

    monkeypatch.setattr(triton.testing, "do_bench", stock)
    monkeypatch.setattr(Autotuner, "do_bench", None, raising=False)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(tuning.time, "perf_counter", lambda: now[0])
    tuning.limit(timed)

    def call():
        now[0] += ms / 1e3

    found = triton.testing.do_bench(call, quantiles=(0.5, 0.2, 0.8))
    assert asks == ([pytest.approx(asked)] if asked else [])
    assert found == pytest.approx([0.1 if asked else ms] * 3)
    assert triton.testing.do_bench(call) == pytest.approx([0.1] * 3 if asked else ms)
    triton.testing.do_bench(call, warmup=0, rep=0.5)
    assert asks[2:] == ([(0, 0.5)] if asked and ms < 0.5 else [])


def test_slow_configuration_is_timed_briefly(monkeypatch):
    asks = []

    def device_ms(call, count):
        asks.append((call(), count))
        return [call() * (1 + n / 100) for n in range(count)]

    class Tuner:
        nargs = {}

    monkeypatch.setattr(triton.testing, "do_bench", None)
    monkeypatch.setattr(Autotuner, "do_bench", None, raising=False)
    monkeypatch.setattr(tuning, "_call_ms", lambda call: call())
    monkeypatch.setattr(tuning, "_device_ms", device_ms)
    tuning.limit(True)
    tuner = Tuner()
    measure = Autotuner.do_bench.fget(tuner)
    quantiles = (0.5, 0.2, 0.8)
    assert [round(measure(lambda ms=ms: ms, quantiles=quantiles)[0], 3) for ms in (2.0, 0.5, 0.52, 0.9, 1.6)] == [
        2.04, 0.525, 0.541, 0.918, 1.6,
    ]  # fmt: skip
    assert asks == [(2.0, 5), (0.5, 5), (0.5, 15), (0.52, 5), (0.52, 14), (0.9, 5)]
    tuner.nargs = {}  # another tuning
    assert measure(lambda: 3.0, quantiles=quantiles) == [pytest.approx(ms) for ms in (3.03, 3.0, 3.06)]
    assert asks[-1] == (3.0, 3)
    tuner.nargs = {}
    assert measure(lambda: 30.0, quantiles=quantiles) == [30.0] * 3 and asks[-1] == (30.0, 1)
