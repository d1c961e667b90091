"""Compiles an autotuner's configurations in parallel processes before it tries them one by one.

Results are in the common cache. This only saves time: a configuration that is not compiled here is compiled when it is tried.
"""

import contextlib
import os
import threading

from triton.runtime.autotuner import Autotuner

_stock_prune = Autotuner.prune_configs


def compile_beside(processes):
    """Enables this in this process, but not in the processes that it forks; ``processes``: number of processes that share the work.

    They stay in this process's group and end with it.
    """

    def prune(tuner, kwargs):
        configs = _stock_prune(tuner, kwargs)
        # A process forked beside another thread may wait forever for a lock of that thread.
        if len(configs) > 1 and threading.active_count() == 1:
            _compile(tuner, [configs[share::processes] for share in range(processes)], kwargs)
        return configs

    Autotuner.prune_configs = prune


def _compile(tuner, shares, kwargs):
    children = []
    # If no process can be forked, its part is compiled when it is tried.
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
