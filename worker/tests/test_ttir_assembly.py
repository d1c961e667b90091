"""Inline assembly on all lanes: PTX that candidates write, and each instruction by what its manual says."""

import math

import pytest
import torch
from test_ttir_arithmetic import SIZE, apply, assert_near, assert_same, flushed, values

from kbx.ttir.errors import Unsupported


def assembled(text, constraints, result, *inputs, pack=1):
    quoted = text.replace("\n", "\\0A").replace("{", "{{").replace("}", "}}")
    names = ", ".join(f"%{name}" for name in "abc"[: len(inputs)])
    types = ", ".join(f"{{{name}}}" for name in "abc"[: len(inputs)])
    attributes = f'{{{{constraints = "{constraints}", packed_element = {pack} : i32, pure = true}}}}'
    return apply(f'tt.elementwise_inline_asm "{quoted}" {attributes} {names} : {types} -> {{r}}', result, *inputs)


def wrapped(values):
    return torch.tensor([(v + 2**31) % 2**32 - 2**31 for v in values], dtype=torch.int32)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shl.b32 $0, $1, 3;", lambda a, b: a << 3), ("add.s32 $0, $1, $2;", lambda a, b: a + b),
        ("{ .reg .b32 t; sub.u32 t, $1, $2; mov.b32 $0, t; }", lambda a, b: a - b), ("mul.lo.s32 $0, $1, $2;", lambda a, b: a * b),
        ("mul.hi.u32 $0, $1, $2;", lambda a, b: (a % 2**32) * (b % 2**32) >> 32), ("mul.hi.s32 $0, $1, $2;", lambda a, b: a * b >> 32),
        ("mad.lo.u32 $0, $1, 2, 0x80;", lambda a, b: 2 * a + 128), ("not.b32 $0, $1;", lambda a, b: ~a),
        ("lop3.b32 $0, $1, $2, 0xff, 0xea;", lambda a, b: (a & b) | 255), ("lop3.b32 $0, $1, $2, $1, 0x96;", lambda a, b: a ^ b ^ a),
        ("prmt.b32 $0, $1, $2, 0x7531;", lambda a, b: (a >> 8 & 255) | (a >> 24 & 255) << 8 | (b >> 8 & 255) << 16 | (b >> 24 & 255) << 24),
        ("bfe.u32 $0, $1, 4, 8;", lambda a, b: a >> 4 & 255), ("bfe.s32 $0, $1, 28, 4;", lambda a, b: a >> 28),
        ("bfi.b32 $0, $1, $2, 8, 16;", lambda a, b: b & ~0xFFFF00 | (a & 0xFFFF) << 8), ("popc.b32 $0, $1;", lambda a, b: (a % 2**32).bit_count()),
        ("min.s32 $0, $1, $2;", min), ("max.u32 $0, $1, $2;", lambda a, b: max(a % 2**32, b % 2**32)),
        ("shr.s32 $0, $1, 40;", lambda a, b: a >> 31), ("shr.u32 $0, $1, 40;", lambda a, b: 0), ("abs.s32 $0, $1;", lambda a, b: abs(a)),
        ("{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.b32 $0, $1, $2, p; }", min),
        ("{ .reg .pred p; setp.hi.u32 p, $1, $2; @p mov.b32 $0, $1; @!p mov.b32 $0, $2; }", lambda a, b: max(a % 2**32, b % 2**32)),
        ("// a comment\nand.b32 $0, $1, $2; /* and another */", lambda a, b: a & b),
        ("{ .reg .b16 x, y; mov.b32 {x, y}, $1; mov.b32 $0, {y, x}; }", lambda a, b: (a >> 16 & 0xFFFF) | (a & 0xFFFF) << 16),
    ],
)  # fmt: skip
def test_integers(text, expected):
    a, b = values(torch.int32, 2)
    got = assembled(text, "=r,r,r", torch.int32, a, b)
    assert torch.equal(got, wrapped(expected(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add.rn.f32 $0, $1, $2;", lambda a, b: a + b), ("fma.rn.ftz.f32 $0, $1, $2, $1;", lambda a, b: (a.double() * b + a).float()),
        ("max.NaN.f32 $0, $1, $2;", lambda a, b: torch.maximum(a, b)), ("ex2.approx.ftz.f32 $0, $1;", lambda a, b: torch.exp2(a)),
        ("tanh.approx.f32 $0, $1;", lambda a, b: torch.tanh(a)), ("rcp.approx.ftz.f32 $0, $1;", lambda a, b: 1 / a),
        ("div.full.f32 $0, $1, $2;", lambda a, b: a / b), ("add.f32 $0, $1, 0f3F800000;", lambda a, b: a + 1), ("mul.f32 $0, $1, 2.5;", lambda a, b: a * 2.5),
        ("copysign.f32 $0, $1, $2;", lambda a, b: torch.copysign(b, a)), ("{ .reg .pred p; setp.gt.f32 p, $1, $2; selp.f32 $0, $1, $2, p; }", lambda a, b: torch.where(a > b, a, b)),
        ("cvt.rni.f32.f32 $0, $1;", lambda a, b: a.round()), ("cvt.rna.tf32.f32 $0, $1;", lambda a, b: a),
    ],
)  # fmt: skip
def test_floats(text, expected):
    a, b = values(torch.float32, 2)
    if "tf32" in text:  # what lies above its largest number becomes infinite
        a = a.clamp(-1e38, 1e38)
    seen = [flushed(a), flushed(b)] if ".ftz" in text else [a, b]
    got, wanted = assembled(text, "=r,r,r", torch.float32, a, b), expected(*seen)
    wanted = flushed(wanted) if ".ftz" in text else wanted
    assert_near(got, wanted, 2 if "tf32" not in text else 2**13)


def test_conversions():
    (a,) = values(torch.float32)
    finite = a.isfinite()
    got = assembled("cvt.rzi.s32.f32 $0, $1;", "=r,r", torch.int32, a)
    assert got[finite].tolist() == [max(-(2**31), min(2**31 - 1, math.trunc(v))) for v in a[finite].tolist()]
    assert_same(assembled("cvt.rn.bf16.f32 $0, $1;", "=h,r", torch.bfloat16, a), a.bfloat16())
    (n,) = values(torch.int32)
    assert_same(assembled("cvt.rn.f32.s32 $0, $1;", "=r,r", torch.float32, n), n.float())


def test_packs_of_four_and_of_two():
    a = torch.randint(-128, 128, (SIZE,), dtype=torch.int8, generator=torch.Generator().manual_seed(0))
    got = assembled("and.b32 $0, $1, 0x0F0F0F0F;", "=r,r", torch.int8, a, pack=4)
    assert torch.equal(got, a & 15)
    x, y = values(torch.float16, 2)
    got = assembled("min.f16x2 $0, $1, $2;", "=r,r,r", torch.float16, x, y, pack=2)
    wanted = torch.fmin(x, y)
    assert torch.equal(got[wanted != 0], wanted[wanted != 0]) or torch.equal(got.isnan(), wanted.isnan())
    (z,) = values(torch.float32)
    got = assembled("cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,r,r", torch.bfloat16, z, pack=2)
    assert_same(got, z.bfloat16())


@pytest.mark.parametrize(
    "text",
    [
        "mov.u32 $0, %smid;", "ld.global.b32 $0, [$1];", "bar.sync 0;", "add.rz.f32 $0, $1, $1;", "frobnicate.b32 $0, $1;",
        "{ .reg .b32 t; mov.b32 t, $1; }", "add.b32 $0, $1, unknown;", "mov $0, $1;",
    ],
)  # fmt: skip
def test_what_is_not_known(text):
    with pytest.raises(Unsupported):
        assembled(text, "=r,r", torch.int32, values(torch.int32)[0])
