"""Compiled baselines without a GPU: the same code with a device whose clock is the host's, and a C++ compiler where there is one."""

import os
import shutil

import pytest
import torch
import torch._inductor.config
import torch.nn.functional as F
from oracle_process import SEED, TASKS
from test_oracle_bench import HostDevice
from torch._dynamo.utils import counters

from kbx.clock import Timed
from kbx.messages import oracle as messages
from kbx.oracle import compiler_cache, taskfile
from kbx.oracle.baselines import CompiledReference, NotCompiled
from kbx.oracle.session import WrongOrder

GELU = str(TASKS / "Activation/gelu.py")


class Device(HostDevice):
    """``HostDevice`` with room for ``sets`` sets of gelu's first size."""

    def __init__(self, sets=100):
        self.sets = sets

    def room(self):
        return self.sets * 4 * 4096


def compiled(path="Activation/gelu.py", size=0, kind="compile", sets=100):
    return CompiledReference(taskfile.load(str(TASKS / path)), size, kind, SEED, Device(sets))


@pytest.fixture
def standing_in(monkeypatch):
    """``standing_in(make)``: torch.compile is ``make(function)``, whose first call makes a graph."""

    def stand_in(make):
        def compile_(function, **options):
            made = make(function)

            def call(*args, **kwargs):
                counters["stats"]["unique_graphs"] += 1
                return made(*args, **kwargs)

            return call

        monkeypatch.setattr(torch, "compile", compile_)

    return stand_in


@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler for Inductor")
@pytest.mark.skipif(
    torch.backends.cpu.get_cpu_capability() == "DEFAULT", reason="Inductor writes vector code that needs AVX2 at least"
)
def test_the_reference_is_compiled_and_timed_against_eager(monkeypatch):
    # For one small kernel neither processes that compile nor compiled headers pay off, nor a program for each vector extension that the
    # compiler might not know.
    monkeypatch.setattr(torch._inductor.config, "compile_threads", 1)
    monkeypatch.setattr(torch._inductor.config.cpp, "vec_isa_ok", True)
    monkeypatch.setattr(torch._inductor.config, "cpp_cache_precompile_headers", False)
    reference = compiled()
    eager_ms, compiled_ms = reference.compare(3, 0, 1)
    assert len(eager_ms) == len(compiled_ms) == 3
    assert min(*eager_ms, *compiled_ms) > 0
    call = reference.calls(1, 1)[0]
    torch.testing.assert_close(reference.function(*call.args, **call.kwargs), F.gelu(call.args[0]))
    reference.close()


def test_failure_reason_has_more_than_the_exception_class(standing_in):
    def failing(function):
        raise RuntimeError("backend='inductor' raised:\nCppCompileError: C++ compile error\n\nCommand:")

    standing_in(lambda function: lambda *args, **kwargs: failing(function))
    with pytest.raises(
        NotCompiled, match="^RuntimeError: backend='inductor' raised: CppCompileError: C.. compile error$"
    ):
        compiled()


def test_order_of_the_two_sides_alternates(standing_in):
    standing_in(lambda function: lambda *args, **kwargs: function(*args, **kwargs))
    reference = compiled()
    order = []
    reference.device.time = lambda calls, lead, warm: (
        order.append(calls[0]) or [Timed(float(len(order)), False)] * len(calls)
    )
    assert reference.compare(2, 0, 1) == ([1.0, 1.0], [2.0, 2.0])
    assert reference.compare(2, 1, 1) == ([4.0, 4.0], [3.0, 3.0])


def test_input_sets_are_fresh_and_limited_by_memory(standing_in):
    standing_in(lambda function: function)
    reference = compiled(sets=2)
    calls = reference.calls(8, 0) + reference.calls(8, 1)
    assert len({call.args[0][0].item() for call in calls}) == len(calls) == 4
    assert len(compiled(sets=0).calls(8, 0)) == 1


def test_wrong_result_gives_no_baseline(standing_in):
    standing_in(lambda function: lambda *args, **kwargs: function(*args, **kwargs) * 1.001)
    with pytest.raises(NotCompiled, match="the compiled reference is wrong: wrong_values: "):
        compiled()
    standing_in(lambda function: lambda *args, **kwargs: function(*args, **kwargs).double())
    with pytest.raises(NotCompiled, match="wrong: wrong_dtype"):
        compiled()


def test_arguments_are_left_as_eager_leaves_them(standing_in):
    def on_copies(function):
        return lambda *args, **kwargs: function(
            *(a.clone() if isinstance(a, torch.Tensor) else a for a in args), **kwargs
        )

    standing_in(lambda function: function)
    compiled("Optimizer/AdamW.py")
    standing_in(on_copies)
    with pytest.raises(NotCompiled, match="the compiled reference is wrong"):
        compiled("Optimizer/AdamW.py")


def test_uncompilable_reference_has_no_baseline(standing_in):
    def failing(function):
        def call(*args, **kwargs):
            raise RuntimeError("Failed running call_function foo\nlong story")

        return call

    standing_in(failing)
    with pytest.raises(NotCompiled, match=r"^RuntimeError: Failed running call_function foo$"):
        compiled()


def test_reference_that_falls_back_to_eager_has_no_baseline():
    with pytest.raises(NotCompiled, match="compiled nothing of it"):
        compiled("Index/masked_select.py")


@pytest.mark.parametrize(("size", "kind"), [(99, "compile"), (-1, "compile"), (0, "eager")])
def test_unknown_case_is_refused(size, kind):
    with pytest.raises(WrongOrder):
        compiled(size=size, kind=kind)


def test_an_oracle_on_the_cpu_refuses(oracle):
    asked = oracle.ask(messages.CompileBaseline, task=GELU, seed=SEED, size=0, kind="compile")
    assert (asked.reason, asked.message) == ("unsupported", "baselines need a GPU")
    assert oracle.ask(messages.CompareBaseline, sets=1, round=0, lead=1).message == "no baseline is compiled"


def test_cache_is_private_to_its_user(tmp_path, monkeypatch):
    for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        monkeypatch.setenv(name, "before")
    compiler_cache.make(tmp_path, None)
    own = tmp_path / str(os.geteuid())
    assert own.stat().st_mode & 0o777 == 0o700
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == str(own / "inductor")
    assert os.environ["TRITON_CACHE_DIR"] == str(own / "triton")
    own.chmod(0o755)
    with pytest.raises(PermissionError, match="alone"):
        compiler_cache.make(tmp_path, None)
