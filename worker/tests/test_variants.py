"""Variants of a kernel that differ only in what helps the compiler: each has its own IR, and one of them machine code."""

import tempfile

import pytest
import torch
from compiling_both_ways import InChild, Loaded, compiling

from kbx.runner import compilation, cuda_on_cpu, execution, launches

ADD = """
@triton.jit
def kernel(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, i < n) + 1, i < n)
def run(x, n, B=64, **options):
    kernel[(1,)](x, n, B=B, **options)
"""
PRODUCT = """
@triton.jit
def kernel(a, b, c, k, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B, B), tl.float32)
    for j in range(0, k, B):
        x = tl.load(a + i[:, None] * stride + (i + j)[None, :])
        y = tl.load(b + (i + j)[:, None] * stride + i[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + i[:, None] * stride + i[None, :], total)
def run(x, stride, B, **options):
    kernel[(1,)](x, x, x, 4 * B, stride, B=B, **options)
"""


def compiled(text, calls, executed=True):
    """For each call of ``run`` what was raised or ``None``; the kernels with machine code of their own; the IR of each launch."""
    with tempfile.TemporaryDirectory() as folder:
        loaded, kernels, raised = Loaded(text, folder), [], []
        with compiling(loaded.text, loaded.path, executed) as send:
            launches.emulate("sm_90")
            cuda_on_cpu.install("sm_90")
            execution.launch = lambda *_: None
            log = launches.LaunchLog()
            log.install()
            compilation.install(send, loaded.path, loaded.text)
            make = compilation.CompiledKernel

            def keep(source, *rest):
                kernels.append(make(source, *rest))
                return kernels[-1]

            compilation.CompiledKernel = keep
            loaded.load()
            for dtype, *arguments, options in calls:
                x = torch.zeros(1 << 20, dtype=getattr(torch, dtype), device="cuda")
                try:
                    raised.append(loaded.module.run(x, *arguments, **options))
                except Exception as error:
                    raised.append(type(error).__name__)
        return (
            raised,
            [each["kernel"] for each in log.take_compiled()],
            [each.asm["ttir"].replace(folder, "") for each in kernels],
        )


def test_what_helps_the_compiler_alone_needs_no_machine_code():
    calls = [("float32", n, {}) for n in (64, 50, 1)]
    raised, listed, texts = InChild(lambda _: compiled(ADD, calls))(None)
    assert raised == [None] * 3
    assert listed == ["kernel"]
    assert len(set(texts)) == 3
    assert texts == InChild(lambda _: compiled(ADD, calls, executed=False))(None)[2]


@pytest.mark.parametrize(
    "other",
    [("float16", 64, {}), ("float32", 64, {"B": 128}), ("float32", 64, {"num_warps": 8})],
    ids=["a dtype", "a constexpr", "an option"],
)
def test_what_decides_the_machine_code_has_its_own(other):
    _, listed, _ = InChild(lambda _: compiled(ADD, [("float32", 64, {}), other, ("float32", 50, {})]))(None)
    assert listed == ["kernel", "kernel"]


def test_where_nothing_is_executed_each_has_machine_code():
    _, listed, _ = InChild(lambda _: compiled(ADD, [("float32", n, {}) for n in (64, 50)], executed=False))(None)
    assert listed == ["kernel", "kernel"]


def test_a_variant_that_may_need_more_shared_memory_is_compiled():
    """Rows of 16-byte multiples are loaded ahead, iterations at a time."""
    calls = [("float16", stride, {"B": 128, "num_stages": 8}) for stride in (129, 128)]
    raised, listed, _ = InChild(lambda _: compiled(PRODUCT, calls))(None)
    assert raised == [None, "OutOfResources"]
    assert listed == ["kernel"]
