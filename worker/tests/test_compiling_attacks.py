"""What a candidate puts on its objects, into caches or into the compiler changes nothing of a kernel that is compiled apart."""

import os
import pathlib
import tempfile

import pytest
import triton
from compiling_both_ways import SIGNATURE, TARGET, InChild, Loaded, compiled_both_ways, compiling, one_kernel, outcome

from kbx.runner import compilation

HONEST = one_kernel(
    "helper(v) * FACTOR",
    """
FACTOR = tl.constexpr(2)

@triton.jit
def helper(v):
    return tl.exp(v) + 1
""",
)

ATTACKS = {
    "source of the kernel": "kernel._unsafe_update_src(kernel.src.replace('helper(v)', 'v'))",
    "source of a helper": "helper._src = helper._src.replace('exp', 'sin')",
    "parse": "kernel.parse = lambda: __import__('ast').parse('def kernel(x, B): pass')",
    "functions of Triton": "tl.exp = tl.core.exp = tl.math.exp = tl.sin",
    "code generator": """
        import triton.compiler.code_generator as generator
        generator.CodeGenerator.visit_Call = lambda self, node: tl.constexpr(1)
    """,
    "making of IR": """
        import triton.compiler.compiler as stock
        stock.ASTSource.make_ir = stock.compile = None
    """,
    "stages": "triton.knobs.runtime.add_stages_inspection_hook = lambda *_: ('', '')",
    "cache key": "type(kernel).cache_key = property(lambda self: 'the same')",
    "environment": """
        import os
        os.environ.update(TRITON_KERNEL_OVERRIDE="1", TRITON_ALLOW_NON_CONSTEXPR_GLOBALS="1", TRITON_DEFAULT_FP_FUSION="0",
                          TRITON_OVERRIDE_ARCH="sm80", TRITON_F32_DEFAULT="ieee", TRITON_DISABLE_LINE_INFO="1")
    """,
    "class of the kernel": """
        class Mine(triton.runtime.JITFunction):
            src = property(lambda self: 'def kernel(x, B): pass')
            def parse(self):
                return __import__('ast').parse('def kernel(x, B): pass')
            def __getattribute__(self, name):
                return object.__getattribute__(self, name)
        kernel.__class__ = helper.__class__ = Mine
    """,
    "class of a constant": """
        class Mine(tl.constexpr):
            __module__ = "triton.language"
            __mul__ = __rmul__ = lambda *_: tl.constexpr(0)
        FACTOR.__class__ = Mine
    """,
    "the candidate's file": "open(__file__, 'w').write('')",
    "lines of the file": "__import__('linecache').cache[__file__] = (1, None, ['pass'], __file__)",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_objects_of_the_candidate_change_nothing(name):
    found = InChild(compiled_both_ways)(HONEST, ATTACKS[name])
    assert found["apart"] == found["in place"] and isinstance(found["apart"], str), found


CLAIMS = {
    "code of another place": "kernel.fn.__code__ = kernel.fn.__code__.replace(co_firstlineno=3)",
    "another name": "kernel.fn.__code__ = kernel.fn.__code__.replace(co_name='other')",
    "another function": "kernel.fn = print",
    "no function of Triton's": "helper = lambda v: v\nhelper.__module__ = 'triton.language'",
    "an object that answers everything": """
        class Anything:
            __module__ = "triton.language"
            _fields = ("x",)
            __triton_builtin__ = True
            def __getattr__(self, name):
                return self
            def __call__(self, *_, **__):
                return tl.constexpr(0)
        helper = Anything()
    """,
    "a metaclass": """
        class Meta(type):
            __triton_builtin__ = True
            def __instancecheck__(self, other):
                return True
            def __call__(self, *_, **__):
                return tl.constexpr(0)
        class helper(metaclass=Meta):
            pass
    """,
}


@pytest.mark.parametrize("name", CLAIMS)
def test_what_is_no_kernel_of_the_file_fails(name):
    found = InChild(compiled_both_ways)(HONEST, CLAIMS[name])
    assert isinstance(found["in place"], str) and found["apart"][0][0] in (
        "CompilationError", "NotRebuilt", "Unsupported", "TypeError", "AttributeError", "RuntimeError",
    ), found  # fmt: skip


def test_nothing_is_read_from_a_cache_on_disk():
    found = InChild(compiled_with_poisoned_cache)()
    assert found == [True, True]


def compiled_with_poisoned_cache():
    """Whether IR and binary are the same after all files in Triton's cache were exchanged."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = f"{folder}/triton"
        loaded = Loaded(HONEST, folder)
        loaded.load()
        honest = triton.compile(loaded.source(), TARGET)
        for file in pathlib.Path(f"{folder}/triton").rglob("kernel.*"):
            if file.suffix != ".json":
                file.write_bytes(b"poison")
        with compiling(loaded.text, loaded.path) as send:
            compilation.install(send, loaded.path, loaded.text)
            apart = triton.compile(loaded.source(), TARGET)
    return [apart.asm[stage] == honest.asm[stage] for stage in ("ttir", "ptx")]


def test_files_with_other_ir_are_not_compiled():
    with tempfile.TemporaryDirectory() as folder:
        other = pathlib.Path(folder, "other.ttir")
        other.write_text("module {}")
        found = InChild(compiled_with_override)(HONEST, str(other))
    assert isinstance(found, str) and "tt.store" in found


def compiled_with_override(text, file):
    with tempfile.TemporaryDirectory() as folder:
        loaded = Loaded(text, folder)
        loaded.load()
        with compiling(loaded.text, loaded.path) as send:
            compilation.install(send, loaded.path, loaded.text)
            return outcome(lambda: triton.compile(loaded.source(), TARGET, {"ir_override": file}))


def test_ir_as_a_kernel_is_a_gap():
    with tempfile.NamedTemporaryFile(suffix=".ttir") as file:
        found = InChild(compiled_file)(file.name)
    assert found[0][:2] == ["Unsupported", "not supported without a GPU: a kernel given as IR"]


def compiled_file(file):
    compilation.install(None, __file__, "")
    return outcome(lambda: triton.compile(file, TARGET))


def test_gluon_is_a_gap():
    gluon = pytest.importorskip("triton.experimental.gluon")
    assert InChild(compiled_with_gluon)(gluon.__name__)[0][1] == "not supported without a GPU: gluon"


def compiled_with_gluon(_):
    from triton.experimental.gluon._runtime import GluonASTSource, jit

    with tempfile.TemporaryDirectory() as folder:
        loaded = Loaded(one_kernel("v"), folder)
        loaded.load()
        compilation.install(None, loaded.path, loaded.text)
        kernel = jit(loaded.module.kernel.fn)
        return outcome(lambda: triton.compile(GluonASTSource(kernel, SIGNATURE, {(1,): 32}), TARGET))


ENDINGS = {
    "exit": ("__import__('os')._exit(0)", "exit status 0"),
    "exit with a code": ("__import__('os')._exit(7)", "exit status 7"),
    "crash": ("__import__('ctypes').string_at(0)", "signal 11"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_compiler_that_ends_is_a_failure_of_that_kernel(name):
    statement, how = ENDINGS[name]
    before = f"@triton.constexpr_function\ndef ending(n):\n    {statement}\n    return n"
    found = InChild(compiled_after_an_end)(one_kernel("v * ending(B)", before))
    assert found[0] == [["CompilerEnded", f"compiling a kernel ended with {how}", None]] and isinstance(found[1], str)


def compiled_after_an_end(text):
    """What comes of ``kernel``, and then of an honest one in the same compiler process."""
    with tempfile.TemporaryDirectory() as folder:
        loaded = Loaded(text + "\n@triton.jit\ndef honest(x, B: tl.constexpr):\n    tl.store(x, 1.0)\n", folder)
        loaded.load()
        with compiling(loaded.text, loaded.path) as send:
            compilation.install(send, loaded.path, loaded.text)
            first = outcome(lambda: triton.compile(loaded.source(), TARGET))
            loaded.module.kernel = loaded.module.honest
            return [first, outcome(lambda: triton.compile(loaded.source(), TARGET))]


def test_what_a_function_changes_in_the_compiler_is_gone_with_it():
    """Triton calls it while it compiles, as it would in place; the next kernel is compiled by another process."""
    before = "@triton.constexpr_function\ndef patching(n):\n    tl.exp = None\n    tl.store = None\n    return n"
    found = InChild(compiled_after_an_end)(one_kernel("v * patching(B) + tl.exp(v)", before))
    assert found[0][0][0] == "CompilationError" and isinstance(found[1], str)


EXCHANGING = """
class Exchanging(tuple):
    _fields = ("value",)

    def __new__(cls, value):
        manager = triton.knobs.cache.manager_class
        put = manager.put
        manager.put = lambda self, data, *rest, **named: put(self, str(data).replace("math.exp", "math.cos"), *rest, **named)
        return tuple.__new__(cls, (value,))
"""


def test_files_that_a_constructor_exchanges_are_not_executed():
    found = InChild(compiled_both_ways)(one_kernel("tl.exp(Exchanging(v)[0])", EXCHANGING))
    assert "math.exp" in found["apart"] and "math.cos" not in found["apart"]
