"""Runs the reference of every task at every benchmark size: milliseconds, gigabytes, and whether the size is sound.

Usage, from the project's root on a machine with a GPU:
    PYTHONPATH=worker python3 bench/sizes.py [TASKFILE...]

A task is sound when its largest size takes PyTorch 0.2 to 20 ms, every size (arguments, results, what the reference allocates,
and the float64 truth) stays under 8 GiB, and the reference passes its own contract and is finite where the truth is. Prints a
line a size and ends with what is not sound.
"""

import gc
import pathlib
import statistics
import sys
import time

import torch

from kbx.oracle import judge, taskfile, truth
from kbx.oracle.task import describe
from kbx.suite.values import tensors

REPEATS = 5
FASTEST, SLOWEST, MEMORY = 0.2, 20.0, 8 << 30
SEED = f"{1:032x}"


def milliseconds(task, made):
    """Median of a few calls, each on its own copy of the arguments, with warm caches."""
    times = []
    with torch.no_grad():
        call = truth.copy_call(made)
        task.reference(*call.args, **call.kwargs)  # The first call may compile.
    for _ in range(REPEATS):
        call = truth.copy_call(made)
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        start.record()
        with torch.no_grad():
            task.reference(*call.args, **call.kwargs)
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
        if sum(times) > 1000:
            break
    return statistics.median(times)


def measure(task, parameters):
    """``(ms, peak bytes, status)`` of one size; the status is that of the reference judged by its own contract."""
    device = torch.device("cuda")
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    made = task.call(parameters, "standard", SEED, device, fast=True)
    ms = milliseconds(task, made)
    known = truth.know(task, made, SEED)
    peak = torch.cuda.max_memory_allocated()
    values = [truth.know(task, made, f"{k + 2:x}", wide=False).expected for k in range(task.contract.draws)]
    judgement = judge.decide(task, known, values[: 1 if task.contract.random else None])
    pairs = zip(tensors(known.expected), tensors(known.truth), strict=True)
    if any(bool((~e.isfinite() & t.isfinite()).any()) for e, t in pairs):
        return ms, peak, "the reference overflows"
    return ms, peak, judgement.message or judgement.status


def main(paths):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    faults, started = [], time.monotonic()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    for path in paths:
        try:
            task = taskfile.load(str(path))
            rows = []
            for parameters in task.sizes:
                ms, peak, status = measure(task, parameters)
                rows.append(ms)
                name = f"{path.parent.name}/{task.name}"
                print(
                    f"{name}: {describe(parameters)}: {ms:.4f} ms, {peak / 2**30:.2f} GiB, {status}",
                    flush=True,
                )
                if peak > MEMORY or status != "correct":
                    faults.append(f"{name}: {describe(parameters)}: {peak / 2**30:.2f} GiB, {status}")
            if not FASTEST <= max(rows) <= SLOWEST:
                faults.append(f"{name}: the largest size takes {max(rows):.3f} ms")
        except Exception as error:
            faults.append(f"{path.parent.name}/{path.stem}: {type(error).__name__}: {error}")
    print(f"{len(paths)} tasks in {time.monotonic() - started:.0f} s, {len(faults)} faults", *faults, sep="\n")
    return bool(faults)


if __name__ == "__main__":
    named = [pathlib.Path(p) for p in sys.argv[1:]]
    sys.exit(main(named or sorted(pathlib.Path("tasks/kernelbenchx").glob("*/*.py"))))
