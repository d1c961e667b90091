"""Compiles an autotuner's configurations side by side, in processes of their own, before it tries them one after the other.

What they compile is in the cache for all. Nothing rests on it: what one of them does not come to is compiled when its turn comes.
"""

import contextlib
import os
import threading

from triton.runtime.autotuner import Autotuner

_stock_prune = Autotuner.prune_configs


def compile_beside(processes):
    """From now on in this process, and in none that it forks for it; ``processes``: among how many the work is split.

    They stay in this process's group, whose end is theirs.
    """

    def prune(tuner, kwargs):
        configs = _stock_prune(tuner, kwargs)
        # A process forked beside another thread may wait for ever for what that one held.
        if len(configs) > 1 and threading.active_count() == 1:
            _compile(tuner, [configs[share::processes] for share in range(processes)], kwargs)
        return configs

    Autotuner.prune_configs = prune


def _compile(tuner, shares, kwargs):
    children = []
    # Where no process can be had, its share waits for its turn.
    with contextlib.suppress(OSError):
        children += (_child(tuner, share, kwargs) for share in shares if share)
    for child in children:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)


def _child(tuner, configs, kwargs):
    pid = os.fork()
    if pid:
        return pid
    try:
        Autotuner.prune_configs = _stock_prune
        for config in configs:
            with contextlib.suppress(Exception):
                tuner._bench(*tuner.nargs.values(), config=config, **kwargs)
    finally:
        os._exit(0)
