"""The parser on IR that Triton prints, on what it prints seldom, and on what it never does."""

import re

import numpy as np
import pytest
import test_ttir_kernels as kernels
import torch
import triton
import triton.language as tl
from ttir_launch import launch_on_tensors, text_of

from kbx.ttir.errors import Unsupported
from kbx.ttir.executor import Kernel
from kbx.ttir.parser import parse
from kbx.ttir.tokens import tokens_of, unquoted
from kbx.ttir.tree import Dense
from kbx.ttir.types import parse_type

FLOATS = torch.zeros(8)
INTS = torch.zeros(8, dtype=torch.int32)
COMPILED = [
    (kernels.softmax_kernel, [FLOATS, FLOATS, 8, 8], {"B": 8}),
    (kernels.matmul_kernel, [FLOATS, FLOATS, FLOATS, 8, 8, 8], {"P": "tf32", "BM": 16, "BN": 16, "BK": 16}),
    (kernels.attention_kernel, [FLOATS, FLOATS, FLOATS, FLOATS, 8, 0.5], {"D": 16, "BM": 16, "BN": 16}),
    (kernels.collatz_kernel, [INTS, INTS, 8], {}),
    (kernels.calls_kernel, [INTS, INTS], {}),
    (kernels.early_kernel, [FLOATS, FLOATS, 8], {"B": 4}),
    (kernels.linear_scan_kernel, [FLOATS, FLOATS, FLOATS], {"N": 16}),
    (kernels.summary_kernel, [FLOATS, FLOATS, INTS, INTS], {"N": 16}),
    (kernels.histogram_kernel, [INTS, INTS, 8], {"N": 16, "BINS": 8}),
    (kernels.shapes_kernel, [FLOATS, FLOATS, FLOATS], {"N": 16}),
    (kernels.map_kernel, [FLOATS, FLOATS, FLOATS], {"N": 16, "PACK": 1}),
    (kernels.random_kernel, [FLOATS, INTS, 8], {"N": 16}),
    (kernels.descriptor_kernel, [FLOATS, FLOATS, 8, 8], {"BM": 8, "BN": 8}),
]


def operations_of(module):
    return [operation for function in module.functions.values() for operation in function.walk()]


@pytest.mark.parametrize(("function", "arguments", "constants"), COMPILED)
def test_each_line_is_an_operation(function, arguments, constants):
    text = text_of(function, arguments, constants)
    parsed = {operation.line: operation for operation in operations_of(parse(text))}
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s+(?:(%.*?) = )?"?((?:arith|tt|scf|cf|math|ttg|ub|llvm)\.[\w.]+)', line)
        if found is None or found[2] == "tt.func":
            continue
        operation = parsed[number]
        assert operation.name == found[2]
        body = line[found.end() :].split(" loc(")[0]
        names = re.findall(r"%[\w$.\-]+(?:#\d+)?", body)
        if operation.name not in ("scf.for", "scf.while"):
            passed = [value.name for successor in operation.successors for value in successor.arguments]
            assert [value.name for value in operation.operands] + passed == names
        if operation.results and not operation.regions:
            last = body.replace(" to ", " ").split()[-1].rstrip(")").lstrip("(")
            kinds = {str(value.type) for value in operation.results}
            assert (
                operation.name.startswith(("arith.cmp", "tt.load", "tt.addptr", "arith.constant", "tt.make_t"))
                or last in kinds
            )


@pytest.mark.parametrize(("function", "arguments", "constants"), COMPILED[:4])
def test_operations_know_their_lines(function, arguments, constants):
    import inspect

    lines, first = inspect.getsourcelines(function.fn)
    places = [o.location.user() for o in operations_of(parse(text_of(function, arguments, constants)))]
    known = [place for place in places if place is not None]
    assert len(known) > len(places) // 2
    assert {place.file for place in known} == {kernels.__file__}
    assert all(first <= place.line < first + len(lines) for place in known)


def test_a_place_inside_triton_leads_to_its_caller():
    parsed = operations_of(parse(text_of(kernels.softmax_kernel, [FLOATS, FLOATS, 8, 8], {"B": 8})))
    reduced = next(o for o in parsed if o.name == "tt.reduce")
    assert reduced.location.frames[0].file.endswith("standard.py") and reduced.location.user().file == kernels.__file__


# ---------------------------------------------------------------- text that is written here

MODULE = """
#loc = loc("kernel.py":1:0)
module {{
  tt.func public @k(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}} loc("x"(#loc)), %n: i32 loc(unknown)) attributes {{noinline = false}} {{
{lines}
    tt.return loc(#loc)
  }} loc(#loc)
}} loc(#loc)
#loc1 = loc("kernel.py":7:3)
#loc2 = loc(callsite("helper.py":3:1 at #loc1))
#loc3 = loc("name"(#loc2))
#loc4 = loc(fused[#loc1, "other.py":9:1])
"""


def one(line):
    """The first operation of a kernel that begins with a line."""
    return operations_of(parse(MODULE.format(lines="    " + line)))[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 : i32", [3]), ("-2147483648 : i32", [-(2**31)]), ("true", [True]), ("dense<true> : tensor<4xi1>", [True]),
        ("1.500000e+00 : f32", [1.5]), ("0x7F800000 : f32", [np.inf]), ("0xFF80 : bf16", [-np.inf]), ("0x7E00 : f16", [np.nan]),
        ("0x7FF0000000000000 : f64", [np.inf]), ("dense<4.6566126E-10> : tensor<4xf32>", [np.float32(4.6566126e-10)]),
        ("1.000980e+00 : f16", [1.0009765625]), ("dense<[1, -2, 3, 4]> : tensor<4xi32>", [1, -2, 3, 4]),
        ("dense<[[1.0, 2.0], [3.0, 0xFF800000]]> : tensor<2x2xf32>", [1, 2, 3, -np.inf]),
        ('dense<"0x0100000002000000FFFFFFFF04000000"> : tensor<4xi32>', [1, 2, -1, 4]),
        ('dense<"0x0000803F000000C0"> : tensor<2xf32>', [1, -2]), ('dense<"0x05"> : tensor<8xi1>', [1, 0, 1, 0, 0, 0, 0, 0]),
        ('dense<"0x0001"> : tensor<2xi1>', [0, 1]), ('dense<"0x803F00C0"> : tensor<2xbf16>', [1, -2]),
        ("dense<4.480000e+02> : tensor<2xf8E4M3FN>", [448]), ("4294967295 : i64", [2**32 - 1]), ("255 : i8", [-1]),
    ],
)  # fmt: skip
def test_constants(text, expected):
    dense = one(f"%c = arith.constant {text} loc(#loc1)").attributes["value"]
    assert isinstance(dense, Dense)
    np.testing.assert_array_equal(dense.values.reshape(-1).astype(np.float64), np.array(expected, np.float64))


def test_locations():
    place = one("%c = arith.constant 3 : i32 loc(#loc3)").location
    assert [(f.file, f.line) for f in place.frames] == [("helper.py", 3), ("kernel.py", 7)]
    assert [(f.file, f.line) for f in one("%c = arith.constant 3 : i32 loc(#loc4)").location.frames] == [
        ("kernel.py", 7),
        ("other.py", 9),
    ]
    inline = one('%c = arith.addi %n, %n : i32 loc(callsite("a.py":5:2 at callsite("b.py":6:1 at #loc1)))')
    assert [(f.file, f.line) for f in inline.location.frames] == [("a.py", 5), ("b.py", 6), ("kernel.py", 7)]
    assert one("%c = arith.constant 3 : i32 loc(unknown)").location.user() is None
    assert (
        one('%c = arith.constant dense<3> : tensor<4xi32> loc(callsite("a.py":5:2 at #loc1))').location.frames[0].file
        == "a.py"
    )


def test_attributes_and_keywords():
    operation = one("%c = arith.addi %n, %n overflow<nsw> {tt.contiguity = dense<1024> : tensor<1xi32>, tt.hint} : i32")
    assert operation.name == "arith.addi" and operation.attributes["tt.hint"] is None
    print_line = 'tt.print " a: \\22quoted\\22 " {hex = false, isSigned = array<i32: 1, 0>} : %n, %n : i32, i32'
    operation = one(print_line)
    assert (
        operation.text == ' a: "quoted" ' and operation.integers("isSigned") == [1, 0] and len(operation.operands) == 2
    )
    operation = one(
        "%v = tt.load %x cacheModifier = cg evictionPolicy = evict_first {isVolatile = true} : !tt.ptr<f32>"
    )
    assert operation.keyword("cacheModifier") == "cg" and str(operation.results[0].type) == "f32"
    assert one("%c = arith.cmpi ult, %n, %n : i32").words == [(0, "ult")]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("%c = arith.frobnicate %n : i32", "the operation arith.frobnicate"),
        ("%c = arith.addi %n, %n {surprise = 1 : i32} : i32", "the attribute surprise"),
        ("%c = arith.addi %n, %n sideways : i32", "the keyword sideways"),
        ("%c = arith.addi %n, %missing : i32", "the value %missing"),
        ("%c = arith.constant dense<whatever> : tensor<4xi32>", "the constant"),
        ("%c = arith.constant dense<[1, 2, 3]> : tensor<4xi32>", "3 elements"),
        ("%c = arith.constant 1 : complex<f32>", "the type complex<f32>"),
        ("%c = arith.addi %n, %n : i32 ~", "the text '~'"),
        ("cf.br ^bb7", "a branch to ^bb7"),
        ("%c, %d = arith.addi %n, %n : (i32, i32) -> (i32, i32, i32)", "3 types of 2 results"),
    ],
)
def test_what_is_unknown_is_unsupported_with_its_line(line, what):
    with pytest.raises(Unsupported) as raised:
        parse(MODULE.format(lines="    " + line))
    assert what in str(raised.value) and raised.value.line == 5


@pytest.mark.parametrize(
    "line",
    [
        '%c = tt.extern_elementwise %n {libname = "", libpath = "", pure = true, symbol = "__nv_unheard_of"} : (i32) -> i32',
        "%c = tt.fp_to_fp %f, rounding = sideways : f32 -> f16",
        '%c = tt.elementwise_inline_asm "bar.sync 0;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %n : i32 -> i32',
    ],
)
def test_what_cannot_be_executed_is_unsupported_before_anything_runs(line):
    with pytest.raises(Unsupported) as raised:
        Kernel(MODULE.format(lines=f"    %f = arith.sitofp %n : i32 to f32\n    {line}"))
    assert raised.value.line == 6


def test_text_that_ends_early():
    text = MODULE.format(lines="    %c = arith.constant 1 : i32")
    for end in ("tt.return", "  } loc(#loc)\n}"):
        with pytest.raises(Unsupported):
            parse(text[: text.index(end)])


@pytest.mark.parametrize(
    ("text", "shape", "element"),
    [
        ("tensor<32x1x!tt.ptr<f32>>", (32, 1), "!tt.ptr<f32>"), ("!tt.ptr<bf16, 1>", (), "!tt.ptr<bf16, 1>"),
        ("tensor<4xf32, #blocked>", (4,), "f32"), ("tensor<8x8xi1>", (8, 8), "i1"), ("index", (), "index"),
        ("!tt.tensordesc<tensor<8x16xf16>>", (), "!tt.tensordesc<tensor<8x16xf16>>"), ("!tt.tensordesc<8x16xf16>", (), "!tt.tensordesc<8x16xf16>"),
    ],
)  # fmt: skip
def test_types(text, shape, element):
    found = parse_type(text)
    assert found.shape == shape and found.element.name == element
    if found.element.kind == "descriptor":
        assert found.element.block.shape == (8, 16)


def test_tokens():
    assert tokens_of('%a:2 = "tt.x"(%b#1) <{k = 1 : i32}> ({ // comment', 1) == [
        "%a", ":", "2", "=", '"tt.x"', "(", "%b#1", ")", "<{", "k", "=", "1", ":", "i32", "}>", "(", "{",
    ]  # fmt: skip
    assert unquoted('"a\\22b\\0A\\\\c"') == 'a"b\n\\c'


def test_branches_that_come_back():
    """A loop of blocks, which Triton does not print but which blocks allow: programs leave it one after another."""
    text = """
module {
  tt.func public @k(%out: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %p = tt.get_program_id x : i32
    cf.br ^bb1(%c0, %c0 : i32, i32)
  ^bb1(%i: i32, %sum: i32):  // 2 preds: ^bb0, ^bb2
    %more = arith.cmpi sle, %i, %p : i32
    cf.cond_br %more, ^bb2, ^bb3(%sum : i32)
  ^bb2:  // pred: ^bb1
    %t = arith.addi %sum, %i : i32
    %j = arith.addi %i, %c1 : i32
    cf.br ^bb1(%j, %t : i32, i32)
  ^bb3(%r: i32):  // pred: ^bb1
    %q = tt.addptr %out, %p : !tt.ptr<i32>, i32
    %s = arith.addi %r, %i : i32
    tt.store %q, %s : !tt.ptr<i32>
    tt.return
  }
}
"""
    out = torch.zeros(10, dtype=torch.int32)
    assert launch_on_tensors(Kernel(text), (10,), [out, 0]) == []
    assert out.tolist() == [p * (p + 1) // 2 + p + 1 for p in range(10)]


@triton.jit
def float8_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i).to(tl.float8e4b15)
    tl.store(out + i, v.to(tl.float32))


def test_packs_of_assembly():
    """Triton converts fp8e4b15 by assembly, four elements at a time."""
    x, out = torch.tensor([0.0, 1.0, -1.5, 1.75, 0.5, 0.0625, 2.0, -3.0] * 8), torch.zeros(64)
    text = text_of(float8_kernel, [x, out], {"N": 64})
    assert "elementwise_inline_asm" in text
    assert launch_on_tensors(Kernel(text), (1,), [x, out]) == []
    assert torch.equal(out, x.clamp(-1.75, 1.75))
