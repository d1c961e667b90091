"""How long autotuning looks at configurations, and at how many.

Which one is fastest matters only where the candidate is timed: there every configuration is compiled ahead and the fastest is found. Every
other call takes one configuration, so that checking a kernel with a hundred of them does not mean compiling all for every shape.
"""

import functools
import statistics
import time
import zlib

import torch
import triton
from triton.runtime.autotuner import Autotuner

_WARMUP_MS, _MEASURED_MS = 2, 10
"""For what may be the fastest. Triton's own 25 and 100 are seconds for one shape."""
_GLANCE_CALLS, _MOST_CALLS = 5, 20
"""Of a configuration, for a first look and in all: the median of so many ranks what differs by more than noise. Before each call the cache
is cleared, as by Triton, which takes longer than a call of 50 us: Triton's benchmark makes hundreds."""
_GLANCE_MS = 1
"""For whatever is not timed."""
_HOPELESS = 1.05
"""A configuration that takes so many times what the best one took is not looked at any longer."""
_LAUNCH_MS = 0.5
"""Of a call, waited for, at most the host's: one that takes longer and twice what the best one took is not looked at at all."""

_stock_bench, _stock_prune = Autotuner._bench, Autotuner.prune_configs


def run_once(call, quantiles=None, **_):
    """A benchmarker that has no clock worth reading: runs the call, reports one millisecond for every quantile."""
    call()
    return [1.0] * len(quantiles) if quantiles else 1.0


def take_first():
    """Autotuning takes the first configuration, in the candidate's order, that compiles and fits.

    The rest are neither compiled nor run: their timing would mean nothing, and each costs a compilation.
    """
    Autotuner._bench = _first_that_runs
    Autotuner.prune_configs = _stock_prune
    Autotuner.do_bench = property(lambda tuner: run_once)


def take_one():
    """Autotuning takes one configuration that compiles and fits: for the same key always the same, for different keys different ones, so
    that calls with several shapes check several of them."""
    take_first()
    Autotuner.prune_configs = _rotated


def take_every():
    """Autotuning runs each configuration once. For processes in which a launch compiles and returns."""
    take_first()
    Autotuner._bench = _stock_bench


def _first_that_runs(tuner, *args, config, **meta):
    # ``nargs`` is a fresh dict for every tuning, so its identity tells one tuning from the next.
    if tuner.__dict__.get("_settled_for") is tuner.nargs:
        return [float("inf")] * 3
    times = _stock_bench(tuner, *args, config=config, **meta)
    if times[0] < float("inf"):
        tuner._settled_for = tuner.nargs
    return times


def _rotated(tuner, kwargs):
    """The configurations that are left, from another one on for each key; alike in every process."""
    left = list(_stock_prune(tuner, kwargs))
    given = {**tuner.nargs, **kwargs}
    key = [given[name] for name in tuner.keys if isinstance(given.get(name), (bool, int, float, str))]
    start = zlib.crc32(repr(key).encode()) % len(left)
    return left[start:] + left[:start]


def limit(timed):
    """For a process with a GPU: where the candidate is ``timed``, autotuning looks for the fastest configuration, but briefly; else it
    takes one. Whatever else asks Triton's benchmark gets an answer as quickly."""
    stock = triton.testing.do_bench
    longest = (_WARMUP_MS, _MEASURED_MS) if timed else (_GLANCE_MS, _GLANCE_MS)
    triton.testing.do_bench = lambda call, **options: _measured(stock, call, longest, **options)
    if not timed:
        take_one()
        return

    def benchmark(tuner):
        own = getattr(tuner, "_do_bench", None)  # the candidate's own counts
        return own if own is not None else functools.partial(_contest, tuner)

    Autotuner.do_bench = property(benchmark)


def _contest(tuner, call, quantiles):
    """Quantiles of the milliseconds that the call takes: of few calls, unless it may be the fastest of this tuning."""
    tuning, best = tuner.__dict__.get("_best_of", (None, float("inf")))
    if tuning is not tuner.nargs:
        best = float("inf")
    ms = _call_ms(call)
    if ms > _LAUNCH_MS + 2 * best:
        return [ms] * len(quantiles)
    most = max(1, min(_MOST_CALLS, int(_MEASURED_MS / ms)))
    times = _device_ms(call, min(most, _GLANCE_CALLS))
    if most > len(times) and statistics.median(times) <= _HOPELESS * best:
        times += _device_ms(call, most - len(times))
    tuner._best_of = tuner.nargs, min(best, statistics.median(times))
    times.sort()
    return [times[round(share * (len(times) - 1))] for share in quantiles]


def _device_ms(call, count):
    """Milliseconds of each of ``count`` calls on the device, each with a cache that holds nothing of what it reads."""
    cache = triton.runtime.driver.active.get_empty_cache_for_benchmark()
    started, ended = ([torch.cuda.Event(enable_timing=True) for _ in range(count)] for _ in range(2))
    for begin, end in zip(started, ended, strict=True):
        cache.zero_()
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    del cache
    torch.cuda.reset_peak_memory_stats()  # the cache is no workspace of the kernel
    return [begin.elapsed_time(end) for begin, end in zip(started, ended, strict=True)]


def _measured(stock, call, longest, warmup=25, rep=100, **options):
    """What the benchmark ``stock`` says, which gets at most the milliseconds of ``longest`` for warm-up and for measuring."""
    warmup, rep = min(warmup, longest[0]), min(rep, longest[1])
    ms = _call_ms(call)
    if ms < warmup + rep:
        times = stock(call, warmup=warmup, rep=min(rep, _MOST_CALLS * ms), **options)
        if torch.cuda.is_available():
            torch.cuda.reset_peak_memory_stats()  # the benchmark's own buffer, 256 MB, is no workspace of the kernel
        return times
    quantiles = options.get("quantiles")
    return [ms] * len(quantiles) if quantiles else [ms] if options.get("return_mode") == "all" else ms


def _call_ms(call):
    """Milliseconds of a call, the second one. If it takes long, Triton's benchmark would make eight of them."""
    call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3
