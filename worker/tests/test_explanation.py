"""What is said of a launch that a GPU has stopped. The tensors lie on the host: nothing reads them."""

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

from kbx.runner import explanation


@triton.jit
def add_up(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0), tl.sum(tl.load(x + i)))


@triton.jit
def copies(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def gathers(x, at, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + tl.load(at + i, mask=i < n, other=0), mask=i < n), mask=i < n)


LAST = "line 15 in program (3, 0, 0): reads up to 12 bytes behind the end of x (1012 bytes), 3 lanes"


def explained(kernel, *arguments, grid=(4, 1, 1)):
    kinds = {torch.float32: "*fp32", torch.int64: "*i64"}
    types = [kinds[a.dtype] if isinstance(a, torch.Tensor) else "i32" for a in arguments] + ["constexpr"]
    signature = dict(zip(kernel.arg_names, types, strict=True))
    source = triton.compiler.ASTSource(kernel, signature, {(len(arguments),): 64})
    ttir = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ttir"]
    return explanation.explained(ttir, signature, grid, (*arguments, 64))


def test_names_line_tensor_and_distance():
    assert explained(add_up, torch.ones(253), torch.empty(4), 253) == LAST


def test_what_stays_within_its_tensors_is_not_explained():
    assert explained(copies, torch.ones(253), torch.empty(253), 253) is None


def test_what_depends_on_values_is_not_explained():
    x, y, at = torch.ones(253), torch.empty(253), torch.full((253,), 400)
    assert explained(gathers, x, at, y, 253) is None


def test_what_takes_long_is_not_explained(monkeypatch):
    monkeypatch.setattr(explanation, "_SECONDS", 0.0)
    assert explained(add_up, torch.ones(253), torch.empty(1 << 20), 253, grid=(1 << 20, 1, 1)) is None


@pytest.mark.parametrize("most, said", [(5, None), (1 << 20, LAST)])
def test_what_needs_much_memory_is_not_explained(monkeypatch, most, said):
    monkeypatch.setattr(explanation, "_MOST_BYTES", most)
    assert explained(add_up, torch.ones(253), torch.empty(4), 253) == said


def test_text_that_is_none_is_not_explained():
    assert explanation.explained("module {", {"x": "*fp32"}, (1, 1, 1), (torch.ones(3),)) is None
