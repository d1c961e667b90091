"""Kernels made at random, executed from their IR and interpreted as Python: all results have the same bits."""

import importlib.util
import random

import pytest
import soak
import torch
from ttir_launch import interpreted, run

pytestmark = pytest.mark.more

SIZE = 32
HEAD = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, z, out, whole, n, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    row = p * B + i
    a = tl.load(x + row, mask=row < n, other=1.0)
    b = tl.load(y + row)
    c = tl.load(z + row)
    s = p + 1
"""
TAIL = """    tl.store(out + row, a.to(tl.float32) + b.to(tl.float32), mask=row < n)
    tl.store(whole + row, c)
"""


class Maker:
    """Statements on ``a`` and ``b`` (floats), ``c`` (int32) and ``s`` (a scalar)."""

    def __init__(self, seed):
        self.draw = random.Random(seed)

    def floats(self, depth=2):
        pick = self.draw.choice
        if not depth:
            return pick(["a", "b", "0.5", "(-1.25)", "c.to(tl.float32)", "s.to(tl.float32)"])
        x, y = self.floats(depth - 1), self.floats(depth - 1)
        return pick([
            f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} / ({y} + 3.5))", f"tl.maximum({x}, {y})", f"tl.minimum({x}, {y})",
            f"tl.where({self.truth(depth - 1)}, {x}, {y})", f"tl.abs(a - {x})", f"tl.floor(b * 0.5 + {x})", f"tl.sqrt(tl.abs(a * {x}))",
            f"tl.fma(a, {x}, b)", f"tl.exp2(-tl.abs(b + {x}))",
        ])  # fmt: skip

    def integers(self, depth=2):
        pick = self.draw.choice
        if not depth:
            return pick(["c", "i", "s", "(c >> 3)", "7", "(-3)"])
        x, y = self.integers(depth - 1), self.integers(depth - 1)
        return pick([
            f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} & c)", f"({x} | {y})", f"({x} ^ c)", f"((c + {x}) // 5)", f"((c - {x}) % 7)",
            f"((c + {x}) << 2)", f"tl.where({self.truth(depth - 1)}, {x}, {y})", f"tl.maximum({x}, {y})",
        ])  # fmt: skip

    def truth(self, depth=1):
        return self.draw.choice(
            [f"(a < {self.floats(0)})", "(c % 3 == 0)", f"(b >= {self.floats(0)})", "(i > s)", "((a > 0) & (c > 0))"]
        )

    def statement(self):
        pick = self.draw.choice
        lines = pick([
            [f"a = a * 0.5 + {self.floats()}"], [f"b = {self.floats()} + b * 0.25"], [f"c = c ^ {self.integers()}"], [f"s = s + {pick(['2', 'p', 's * 3'])}"],
            ["a = a - tl.max(a, axis=0)"], ["b = b + tl.min(b, axis=0) * 0.5"], ["c = c + tl.sum(c, axis=0)"], ["c = tl.cumsum(c, 0)"],
            ["c = c + tl.max(c, axis=0)"], ["a = tl.gather(a, (c & (B - 1)), 0)"], ["b = tl.flip(b, 0)"],
            ["c = tl.reshape(tl.trans(tl.reshape(c, (4, B // 4))), (B,))"],
            [f"if s % 2 == {pick('01')}:", f"    a = {self.floats()} + a", "    s += 1", "else:", f"    b = {self.floats()} + b"],
            [f"for k in range(s % {pick('345')}):", f"    a = a * 0.5 + {self.floats(1)}", "    c += k"],
            ["k = s % 5", "while k > 0:", f"    b = b * 0.5 + {self.floats(1)}", "    k -= 1"],
        ])  # fmt: skip
        return "".join(f"    {line}\n" for line in lines)

    def source(self):
        return HEAD + "".join(self.statement() for _ in range(self.draw.randint(2, 7))) + TAIL


@pytest.mark.parametrize("seed", range(200 if soak.ALL else 12))
def test_random_kernels(seed, tmp_path):
    path = tmp_path / f"kernel_{seed}.py"
    path.write_text(Maker(seed).source())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    programs, generator = 5, torch.Generator().manual_seed(seed)
    count = programs * SIZE
    x, y = (torch.randn(count, generator=generator) * 4 for _ in range(2))
    x[::17], y[5] = 0.0, float("inf")
    z = torch.randint(-1000, 1000, (count,), dtype=torch.int32, generator=generator)
    results = []
    for execute in (run, interpreted):
        out, whole = torch.zeros(count), torch.zeros(count, dtype=torch.int32)
        findings = execute(module.kernel, (programs,), x, y, z, out, whole, count - 9, B=SIZE)
        assert not findings
        results.append((out, whole))
    (mine, whole), (theirs, other) = results
    assert torch.equal(whole, other), path.read_text()
    assert torch.equal(mine.nan_to_num(nan=7.25), theirs.nan_to_num(nan=7.25)), path.read_text()
