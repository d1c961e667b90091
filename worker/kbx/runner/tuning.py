"""How long autotuning looks at configurations, and at how many.

Which one is fastest matters only where the candidate is timed: there every configuration is compiled ahead and the fastest is found. Every
other call takes one configuration, so that checking a kernel with a hundred of them does not mean compiling all for every shape. Without a
GPU, ``Rotation`` takes another one in each call, until each has run.
"""

import contextlib
import functools
import statistics
import time
import zlib
from collections import Counter

import torch
import triton
from triton.compiler.errors import CompileTimeAssertionFailure
from triton.runtime.autotuner import Autotuner
from triton.runtime.errors import OutOfResources, PTXASError

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

_REPORTED, _NAME_CHARS = 8, 200
"""Launches of autotuned kernels that a call reports with their configurations, and characters of each."""
_DOES_NOT_RUN = (OutOfResources, CompileTimeAssertionFailure, PTXASError)
"""What Triton's tuner, too, takes for a configuration that is none here. Raised before anything of the kernel runs."""

_NEVER = [float("inf")] * 3
"""Quantiles of the time of what is not to be taken."""

timing = contextlib.nullcontext
"""What is entered while launches are timed, but for the first one of each configuration."""

_stock_bench, _stock_prune, _stock_run = Autotuner._bench, Autotuner.prune_configs, Autotuner.run


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
    if _is_settled(tuner):
        return _NEVER
    times = _stock_bench(tuner, *args, config=config, **meta)
    if times[0] < float("inf"):
        tuner._settled_for = tuner.nargs
    return times


def _is_settled(tuner):
    """Whether the tuning under way has found a configuration. ``nargs`` is a fresh dict for every tuning, so its identity tells one from
    the next."""
    return tuner.__dict__.get("_settled_for") is tuner.nargs


class Rotation:
    """Autotuning without a clock, where results are judged: each call takes configurations that have not run yet.

    Which one is fastest on some GPU is not known, so each has to be right. One has *run* when a launch had it whose tensors are the largest
    among those that may have it: what is wrong with a block often does not show in small ones. Calls are told apart by their ``turn``;
    within one, launches with the same key have the same configuration, and a turn that is repeated has its own ones again.

    The first launch with a key runs twice, once to try the configuration and once for the caller, as on a GPU: an in-place kernel without
    ``restore_value`` shows it. Later ones run once and without the tuner's own hooks, again as on a GPU.

    Without a turn, as before the first call, launches have the first configuration that runs, and count for nothing.
    """

    def __init__(self):
        self._turn = None
        self._tuned = {}
        self._met = {}
        """By turn, the kernels and places of its launches: dictionaries without values, which keep their order. A negative turn makes an
        earlier call again, which stands for it here."""
        self._used = {}

    def install(self):
        """Takes over Triton's autotuners, for the rest of this process."""
        take_first()
        Autotuner.run = lambda tuner, *args, **kwargs: self._run(tuner, args, kwargs)
        Autotuner.prune_configs = lambda tuner, kwargs: (
            tuner.__dict__.pop("_ordered", None) or _stock_prune(tuner, kwargs)
        )
        Autotuner._bench = lambda tuner, *args, config, **meta: self._try(tuner, args, config, meta)
        Autotuner.check_disk_cache = _bench_again

    def begin(self, turn):
        """Begins a call: one with a new ``turn`` takes other configurations than those before it, where there are any; None: the first."""
        self._turn, self._used = turn, {}

    def used(self):
        """The configurations of the call so far, as ``kernel(BLOCK=64, num_warps=4)``."""
        return list(dict.fromkeys(self._used.values()))[:_REPORTED]

    def untried(self):
        """``tuning`` and ``configurations``: a turn whose launches, made once more, would run configurations that have not run, and how
        many there are in all; None if there are none. Of several turns the last: what only a first call launches does not return."""
        wanted = {tuned: tuned.wanted() for tuned in self._tuned.values()}
        count = sum(map(len, wanted.values()))
        for turn, launches in reversed(self._met.items()):
            for tuned, place in launches:
                if any(wanted[tuned].get(name) == place[1] for name in tuned.possible[place]):
                    return {"tuning": turn, "configurations": count}
        return None

    def _run(self, tuner, args, kwargs):
        if len(tuner.configs) < 2:
            return _stock_run(tuner, *args, **kwargs)
        tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
        tuned, place = self._tuned_of(tuner), _place(tuner, kwargs)
        key = place[0]
        known = tuner.cache.get(key)
        if known is None:
            tuner._ordered = self._order(tuner, place, kwargs)
            result = _stock_run(tuner, *args, **kwargs)  # which calls ``_try``
        elif (self._turn is None or place in tuned.possible) and _name(tuner, known) == tuned.chosen.get(
            (self._turn, key)
        ):
            self._note(tuner, key, known)
            result = _stock_run(tuner, *args, **kwargs)
        else:
            result = self._run_first_that_runs(tuner, place, args, kwargs)
        name = _name(tuner, tuner.best_config)
        tuned.chosen[self._turn, key] = name
        if self._turn is not None:
            tuned.runs[name] += 1
            tuned.note_run(name, place[1])
        return result

    def _run_first_that_runs(self, tuner, place, args, kwargs):
        """A launch with a key that was tuned before."""
        failure = None
        for config in self._order(tuner, place, kwargs):
            tuner.cache[place[0]] = config
            self._note(tuner, place[0], config)
            try:
                return _stock_run(tuner, *args, **kwargs)
            except _DOES_NOT_RUN as error:
                self._tuned_of(tuner).drop(place, _name(tuner, config))
                failure = failure or error
        raise failure

    def _order(self, tuner, place, kwargs):
        """What pruning leaves, in the order in which to try it: what this turn had, then what has not run, those that ran least first."""
        tuned = self._tuned_of(tuner)
        named = [(_name(tuner, config), config) for config in _stock_prune(tuner, kwargs)]
        wanted, chosen = {}, tuned.chosen.get((self._turn, place[0]))
        if self._turn is not None:
            tuned.possible[place] = [name for name, _ in named if (place, name) not in tuned.failed]
            wanted = tuned.wanted()
            if self._turn >= 0:
                self._met.setdefault(self._turn, {})[tuned, place] = None

        def rank(item):
            name = item[0]
            return (place, name) in tuned.failed, name != chosen, tuned.runs[name] if name in wanted else float("inf")

        return [config for _, config in sorted(named, key=rank)]

    def _try(self, tuner, args, config, meta):
        if _is_settled(tuner):
            return _NEVER
        place = _place(tuner, meta)
        self._note(tuner, place[0], config)
        times = _first_that_runs(tuner, *args, config=config, **meta)
        if not _is_settled(tuner):
            self._tuned_of(tuner).drop(place, _name(tuner, config))
        return times

    def _note(self, tuner, key, config):
        options = {"num_warps": config.num_warps, "num_stages": config.num_stages}
        said = ", ".join(f"{name}={value}" for name, value in {**config.kwargs, **options}.items())
        self._used[tuner, key] = f"{tuner.base_fn.__name__}({said})"[:_NAME_CHARS]

    def _tuned_of(self, tuner):
        """By code and configurations: a wrapper that decorates its kernel in every call has a new tuner each time."""
        key = tuner.base_fn.__code__, *map(str, tuner.configs)
        if key not in self._tuned:
            self._tuned[key] = _Tuned([str(config.kwargs) for config in tuner.configs])
        return self._tuned[key]


class _Tuned:
    """What is known of one kernel's configurations, each by its ``_name``.

    A *place* is a key of the autotuner and the number of elements in the tensors of a launch with that key. ``constants`` are those of the
    configurations by position: those that differ in warps or stages alone have the same Triton IR, of which one is run.
    """

    def __init__(self, constants):
        self._constants = constants
        self.possible = {}
        """By place, the configurations that pruning leaves and that are not known to fail."""
        self.failed = set()
        """Places with what does not compile or fit there."""
        self._largest = {}
        """By constants, the elements of the largest launch that they ran in."""
        self.runs = Counter()
        self.chosen = {}
        """The configuration, by turn and key."""

    def drop(self, place, name):
        self.failed.add((place, name))
        if place in self.possible:
            self.possible[place] = [each for each in self.possible[place] if each != name]

    def note_run(self, name, elements):
        """A launch with so many elements had this configuration."""
        alike = self._alike(name)
        self._largest[alike] = max(elements, self._largest.get(alike, 0))

    def wanted(self):
        """The configurations that have not run, each with the elements of the largest launches that may have it."""
        most = {}
        for (_, elements), names in self.possible.items():
            for name in names:
                most[name] = max(elements, most.get(name, 0))
        return {name: n for name, n in most.items() if self._largest.get(self._alike(name), -1) < n}

    def _alike(self, name):
        return self._constants[name] if type(name) is int else name


def _place(tuner, kwargs):
    """The key, as Triton's autotuner makes it, and the elements of all tensors."""
    given = {name: value for name, value in {**tuner.nargs, **kwargs}.items() if name in tuner.arg_names}
    key = [given[name] for name in tuner.keys if name in given]
    key += [str(value.dtype) for value in given.values() if hasattr(value, "dtype")]
    tensors = (getattr(value, "base", value) for value in given.values())  # of a descriptor
    return tuple(key), sum(value.numel() for value in tensors if isinstance(value, torch.Tensor))


def _name(tuner, config):
    """A configuration's position, as several may look alike; what a pruning function has made itself goes by its looks."""
    return next((i for i, each in enumerate(tuner.configs) if each is config), str(config))


def _bench_again(tuner, key, configs, bench):
    """In place of a look at timings on disk, which mean nothing here."""
    bench()
    return False


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
    with timing():
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
        with timing():
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
    with timing():
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3
