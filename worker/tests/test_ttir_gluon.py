"""Kernels in Gluon: layouts change no values, and shared memory is each program's own."""

import pytest
import torch
from ttir_launch import gluon_text_of, launch_on_tensors

from kbx.ttir.executor import Kernel

gluon = pytest.importorskip("triton.experimental.gluon")
gl = pytest.importorskip("triton.experimental.gluon.language")


@gluon.jit
def centred_kernel(x, out, n, B: gl.constexpr):
    row: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    other: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    p = gl.program_id(0)
    i = gl.arange(0, B, layout=row)
    v = gl.load(x + p * n + i, mask=i < n, other=0.0)
    memory = gl.allocate_shared_memory(gl.float32, [B], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    if p % 2 == 0:
        memory.store(v * 2)
    else:
        memory.store(v)
    w = gl.convert_layout(memory.load(other), row)
    gl.store(out + p * n + i, w - gl.sum(v, axis=0) / n, mask=i < n)


def test_shared_memory_and_layouts():
    x, out = torch.randn(6, 100), torch.zeros(6, 100)
    kernel = Kernel(gluon_text_of(centred_kernel, [x, out, 100], {"B": 128}))
    assert launch_on_tensors(kernel, (6,), [x, out, 100]) == []
    twice = torch.tensor([2.0, 1.0] * 3)[:, None]
    torch.testing.assert_close(out, x * twice - x.mean(1, keepdim=True))


@gluon.jit
def unset_kernel(out, B: gl.constexpr):
    row: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    memory = gl.allocate_shared_memory(gl.float32, [B], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    gl.store(out + gl.arange(0, B, layout=row), memory.load(row))


def test_shared_memory_that_nobody_wrote():
    out = torch.zeros(128)
    (found,) = launch_on_tensors(Kernel(gluon_text_of(unset_kernel, [out], {"B": 128})), (1,), [out])
    assert found.kind == "undefined"
