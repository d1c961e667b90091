"""Milliseconds of processor time that launches take when their Triton IR is executed, and when Python interprets the kernel.

    python3 bench/executor.py        needs torch, triton and pytest, whose kernels are worker/tests/test_ttir_kernels.py's; no GPU

A line for each kernel: programs; executed with races looked for, the best of five; the same without; interpreted once, as kbx did before.
"""

import os
import pathlib
import sys
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "worker"), str(ROOT / "worker" / "tests")]

import test_ttir_kernels as kernels  # noqa: E402
import torch  # noqa: E402
from torch import int32, randn, zeros  # noqa: E402
from ttir_launch import interpreted, launch_on_tensors, text_of  # noqa: E402

from kbx.ttir.executor import Kernel  # noqa: E402


def half(*shape):
    return randn(*shape).half()


CASES = {
    "element-wise, 1M": (kernels.add_kernel, (1024,), lambda: [randn(1 << 20), randn(1 << 20), zeros(1 << 20), 1 << 20], {"B": 1024}),
    "softmax, 4096 x 1000": (kernels.softmax_kernel, (4096,), lambda: [randn(4096, 1000), zeros(4096, 1000), 1000, 1000], {"B": 1024}),
    "matmul, 512 cubed": (
        kernels.matmul_kernel, (8, 8), lambda: [randn(512, 512), randn(512, 512), zeros(512, 512), 512, 512, 512],
        {"P": "tf32", "BM": 64, "BN": 64, "BK": 32}),
    "flash attention, 4 x 512 x 64": (
        kernels.attention_kernel, (8, 4), lambda: [half(4, 512, 64), half(4, 512, 64), half(4, 512, 64), half(4, 512, 64), 512, 0.125],
        {"D": 64, "BM": 64, "BN": 64}),
    "layer norm backward, atomics": (
        kernels.layer_norm_backward_kernel, (1024,),
        lambda: [randn(1024, 512), randn(512), randn(1024, 512), randn(1024), randn(1024), zeros(1024, 512), zeros(512), zeros(512), 512],
        {"B": 512}),
    "programs that diverge": (
        kernels.collatz_kernel, (500,), lambda: [torch.arange(1, 501, dtype=int32), zeros(500, dtype=int32), 500], {}),
}  # fmt: skip


def milliseconds(run):
    start = time.process_time()
    run()
    return (time.process_time() - start) * 1e3


def main():
    torch.set_num_threads(1)
    print(f"{'kernel':30} programs  executed  unchecked  interpreted")
    for name, (function, grid, make, constants) in CASES.items():
        arguments = make()
        kernel = Kernel(text_of(function, arguments, constants))
        checked, unchecked = (
            min(milliseconds(lambda: launch_on_tensors(kernel, grid, arguments, checks=checks)) for _ in range(5))  # noqa: B023
            for checks in (True, False)
        )
        before = milliseconds(lambda: interpreted(function, grid, *arguments, **constants))  # noqa: B023
        programs = grid[0] * (grid[1] if len(grid) > 1 else 1)
        print(f"{name:30} {programs:8} {checked:9.1f} {unchecked:10.1f} {before:12.1f}", flush=True)


if __name__ == "__main__":
    main()
