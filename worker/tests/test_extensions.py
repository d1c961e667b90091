"""A candidate's C++: compiled in one runner, found in another, explained where it is wrong; nvcc is a stand-in."""

import os
import shutil
import types
from pathlib import Path

import pytest
import torch
from bench_client import bench

from kbx.messages import runner as messages
from kbx.runner import extensions, mounts, toolkit

pytestmark = pytest.mark.sampled(12)


CUDA = Path(__file__).resolve().parent / "fake_cuda"
NAME = "kbx_test_extension"

needs_compilers = pytest.mark.skipif(
    torch.version.cuda is None or not (shutil.which("ninja") and shutil.which("c++")),
    reason="needs ninja, a C++ compiler and a PyTorch with CUDA",
)

CPP = r"""
#include <Python.h>
PyObject* answer(PyObject*, PyObject*);
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {0, 0, 0, 0}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "m", 0, -1, methods};
PyMODINIT_FUNC PyInit_kbx_test_extension() { return PyModule_Create(&module); }
"""

SOURCE = f'''
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <Python.h>
PyObject* answer(PyObject*, PyObject*) {{
    return PyLong_FromLong(42);
}}
"""

module = load_inline("{NAME}", cpp_sources=r"""{CPP}""", cuda_sources=CUDA, no_implicit_headers=True)

def run():
    return module.answer()
'''


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path):
    """Counts compilations of the stand-in, which is the only nvcc."""
    monkeypatch.setenv("CUDA_HOME", str(CUDA))
    monkeypatch.setenv("FAKE_NVCC_LOG", str(tmp_path / "log"))

    def compilations():
        log = tmp_path / "log"
        return log.read_text().splitlines() if log.exists() else []

    return compilations


def ahead(source, **options):
    """What a runner without a device answers to ``load``, and the files that leave it."""
    with bench(**options) as client:
        client.ask(messages.Attach(1, []))
        reply = client.load(source)
        return reply, client.ask(messages.Precompile(2, [], 1.0)).files


def judged(source, files):
    """The answers to ``load`` and ``call`` of a runner that is given those files."""
    with bench() as client:
        client.attach()
        loaded = client.load(source, files=files)
        return loaded, client.call() if isinstance(loaded, messages.Loaded) else None


@needs_compilers
def test_a_library_is_compiled_once_and_not_run_without_a_gpu(machine, monkeypatch):
    reply, files = ahead(SOURCE)
    assert isinstance(reply, messages.Loaded), reply
    assert [name.split("/")[0] for name in files] == ["libraries"]
    monkeypatch.setenv("CUDA_HOME", "/nowhere")
    loaded, called = judged(SOURCE, files)
    assert isinstance(loaded, messages.Loaded), loaded
    assert (called.kind, called.feature) == ("unsupported", None)
    assert called.message == "compiled for sm_90 and not run: inline CUDA C++ runs only on a GPU"
    assert called.frames[-1]["text"] == "return module.answer()"
    assert len(machine()) == 1


def called(source):
    """What a runner without a device answers to ``load``, or to ``call`` where it loads."""
    loaded, reply = judged(source, {})
    return reply or loaded


RETURNS = "return module.answer()"
NOT_RUN = "compiled for sm_90 and not run: inline CUDA C++ runs only on a GPU"


@needs_compilers
@pytest.mark.parametrize("next_", ["return 42", "raise ValueError('its own') from None"])
def test_library_is_not_run_even_if_the_error_is_caught(next_):
    assert RETURNS in SOURCE
    reply = called(
        SOURCE.replace(RETURNS, f"try:\n        {RETURNS}\n    except BaseException:\n        pass\n    {next_}")
    )
    assert (reply.kind, reply.message) == ("unsupported", NOT_RUN)
    assert reply.frames[-1]["text"] == RETURNS


def test_missing_nvcc_cannot_be_caught_for_a_fallback(monkeypatch):
    monkeypatch.setenv("CUDA_HOME", "/nowhere")
    source = SOURCE.replace("module = ", "try:\n    module = ", 1).replace(RETURNS, "return 42")
    source = source.replace("headers=True)", "headers=True)\nexcept Exception:\n    pass")
    reply = called(source)
    assert reply.kind == "unsupported" and "inline CUDA C++ needs" in reply.message


@needs_compilers
@pytest.mark.parametrize(
    "use",
    [
        "module.LIMIT - 1",
        "2 * module.LIMIT",
        "range(module.LIMIT)",
        "int(module.LIMIT)",
        "f'{module.LIMIT}'",
        "module.LIMIT == 256",
        "torch.empty(module.LIMIT)",
        "torch.ones(3) * module.LIMIT",
        "module.Mode.FAST.value + 1",
        "[*module.SIZES]",
        "module.SIZES[0]",
        "isinstance(3, module.Shape)",
        "__import__('types').new_class('Own', (module.Shape,))",
    ],
)
def test_constants_of_a_library_are_unavailable_without_a_gpu(use):
    reply = called(SOURCE.replace(RETURNS, f"return {use}"))
    assert (reply.kind, reply.message) == ("unsupported", NOT_RUN)


@needs_compilers
def test_functions_of_a_library_may_be_kept_for_later():
    source = SOURCE.replace(
        "def run", "kept = {module.answer: module.answer}\nassert module.answer is not None\ndef run"
    )
    assert called(source.replace(RETURNS, "return 42")).value == {"t": "int", "v": 42}


@needs_compilers
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("import os; os.environ['TORCH_CUDA_ARCH_LIST'] = '8.0'", "compiled for sm_80 and not run: inline CUDA"),
        (
            "import os; os.environ['TORCH_CUDA_ARCH_LIST'] = '10.0 8.6+PTX'",
            "compiled for sm_86, sm_100 and not run: inl",
        ),
    ],
)
def test_reported_architectures_are_those_compiled(asked, told):
    assert called(f"{asked}\n{SOURCE}").message.startswith(told)


@needs_compilers
@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["-arch=sm_89"], "compiled for sm_89 and not run: inline CUDA"),
        (["-gencode", "arch=compute_80,code=compute_80"], "compiled for compute_80 and not run: inline CUDA"),
        (["-arch=native"], "compiled and not run: inline CUDA"),
    ],
)
def test_architectures_in_flags_are_reported(flags, told):
    source = SOURCE.replace("no_implicit_headers", f"extra_cuda_cflags={flags}, no_implicit_headers")
    assert called(source).message.startswith(told)


@needs_compilers
def test_library_without_cuda_has_no_architecture():
    source = SOURCE.replace("cuda_sources=CUDA, ", "").replace(
        "PyObject* answer(PyObject*, PyObject*);",
        "PyObject* answer(PyObject*, PyObject*) { return PyLong_FromLong(42); }",
    )
    reply = called(source)
    assert reply.message == "compiled and not run: inline C++ is called only on machines with a GPU"


@needs_compilers
@pytest.mark.parametrize("change", ["CXX = no-such-compiler", "PATH = /nowhere"])
def test_candidate_that_hides_the_compiler_has_a_compile_error(change):
    name, value = change.split(" = ")
    reply = called(f"import os; os.environ[{name!r}] = {value!r}\n{SOURCE}")
    assert reply.kind == "compile", reply
    assert "is not on the PATH; the candidate has set" in reply.message


@needs_compilers
@pytest.mark.parametrize(("arch", "number"), [("sm_80", 80), ("sm_86", 86), ("sm_89", 89), ("sm_100", 100)])
def test_architectures_go_by_name(machine, arch, number):
    reply, _ = ahead(SOURCE, arch=arch)
    assert isinstance(reply, messages.Loaded), reply
    assert f"arch=compute_{number},code=sm_{number}" in machine()[0].split()


@needs_compilers
def test_files_serve_no_other_source(machine):
    _, files = ahead(SOURCE)
    loaded, _ = judged(SOURCE.replace("42", "43"), files)
    assert isinstance(loaded, messages.Loaded)
    assert len(machine()) == 2


@needs_compilers
def test_errors_have_lines_of_the_candidate_and_travel(machine):
    wrong = SOURCE.replace("(42)", "(undeclared_here)")
    reply, files = ahead(wrong)
    loaded, _ = judged(wrong, files)
    assert len(machine()) == 1
    for raised in (reply, loaded):
        assert raised.kind == "compile"
        place, _, rest = raised.message.partition(": ")
        assert rest.splitlines() == [
            'error: identifier "undeclared_here" is undefined', "    return PyLong_FromLong(undeclared_here);"
        ]  # fmt: skip
        innermost = raised.frames[-1]
        assert place == f"candidate.py:{innermost['line']}"
        assert innermost["text"] == "return PyLong_FromLong(undeclared_here);"


@needs_compilers
def test_undefined_symbol_is_a_link_error():
    reply, _ = ahead(
        SOURCE.replace("PyObject* answer(PyObject*, PyObject*) {{", "").replace(
            "answer(PyObject*, PyObject*) {", "other() {"
        )
    )
    assert (reply.kind, reply.frames[-1]["text"][:6]) == ("compile", "module")
    assert "answer(_object*, _object*) is declared and never defined" in reply.message


def test_missing_nvcc_is_a_fault_of_the_machine(monkeypatch):
    monkeypatch.setenv("CUDA_HOME", "/nowhere")
    reply, files = ahead(SOURCE)
    assert (reply.kind, reply.feature, files) == ("unsupported", None, {})
    assert "inline CUDA C++ needs" in reply.message


def test_missing_nvcc_skips_host_code_too(monkeypatch):
    monkeypatch.setenv("CUDA_HOME", "/nowhere")
    reply, files = ahead(SOURCE.replace("cuda_sources=CUDA, ", ""))
    assert (reply.kind, files) == ("unsupported", {})


def test_toolkit_is_found_where_torch_looks(monkeypatch, tmp_path):
    assert toolkit.home() == str(CUDA)
    assert toolkit.versions()["nvcc"] == "13.0.0"
    monkeypatch.delenv("CUDA_HOME")
    monkeypatch.setenv("PATH", f"{CUDA}/bin:{os.environ['PATH']}")
    assert toolkit.home() == str(CUDA)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert toolkit.home() is None and toolkit.versions().keys() <= {"cxx"}


def test_missing_compilers_are_named(monkeypatch, tmp_path):
    if torch.version.cuda is None:
        assert "a PyTorch with CUDA" in toolkit.lacking(cuda=True)
        return
    bare = tmp_path / "cuda"
    shutil.copytree(CUDA / "bin", bare / "bin")
    monkeypatch.setenv("CUDA_HOME", "/nowhere")
    assert "needs nvcc" in toolkit.lacking(cuda=True)
    monkeypatch.setenv("CUDA_HOME", str(bare))
    assert "needs libcudart.so" in toolkit.lacking(cuda=True)
    monkeypatch.setenv("CUDA_HOME", str(CUDA))
    monkeypatch.setenv("PATH", str(tmp_path))
    for cuda in (True, False):
        assert toolkit.lacking(cuda) == "inline C++ needs a compiler, and c++ is not on the PATH"
    for name, lack in (("c++", "inline C++ needs ninja, which is not on the PATH"), ("ninja", None)):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
        assert toolkit.lacking(cuda=True) == lack


def test_host_compiler_is_reported_without_nvcc(monkeypatch, tmp_path):
    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\necho 12.2.0\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CUDA_HOME", "/nowhere")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert toolkit.versions() == {"cxx": "12.2.0"}


def test_a_runner_without_a_gpu_sees_the_toolkit(monkeypatch, tmp_path):
    folder = shutil.copytree(CUDA, tmp_path / "cuda")
    monkeypatch.setenv("CUDA_HOME", str(folder))
    assert str(folder) in mounts.plan(cuda=False).readable


def test_calls_are_watched_for_a_while(monkeypatch):
    module = types.ModuleType("compiled")
    module.double = lambda x: 2 * x
    double = module.double
    monkeypatch.setattr(extensions, "loaded", [module])
    seen = []

    def observe(function, *args, **kwargs):
        seen.append(args)
        return function(*args, **kwargs)

    with extensions.watched(observe):
        assert module.double(4) == 8
    assert module.double is double and module.double(5) == 10
    assert seen == [(4,)]
