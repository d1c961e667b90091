"""Kernels in TileLang and the CuTe DSL; the packages are stand-ins of the same names."""

import importlib
import importlib.metadata
import sys
import textwrap
import types

import pytest
import torch
from bench_client import bench

from kbx.messages import runner as messages
from kbx.runner import gaps, kernel_packages
from kbx.runner.ledger import Ledger
from kbx.runner.witness import _address

TILELANG, CUTLASS = kernel_packages.PACKAGES


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Makes packages importable: files by their names below ``site``."""

    def install(**files):
        for name, text in files.items():
            file = tmp_path / "site" / (name.replace("__", "/") + ".py")
            file.parent.mkdir(parents=True, exist_ok=True)
            (file.parent / "__init__.py").touch()
            file.write_text(textwrap.dedent(text))
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        importlib.invalidate_caches()

    yield install
    for name in [name for name in sys.modules if name.split(".")[0] in ("tilelang", "cutlass")]:
        del sys.modules[name]


@pytest.fixture
def nothing_installed(monkeypatch):
    monkeypatch.setattr(kernel_packages, "_is_installed", lambda package: False)


def test_package_is_recognised_by_its_content(installed):
    installed(cutlass__regression="", tilelang__language="")
    assert kernel_packages.absent() == ["cutlass"]  # another package of that name
    installed(cutlass__cute="")
    assert kernel_packages.absent() == []


def test_versions_of_installed_packages_are_reported(installed, monkeypatch):
    assert kernel_packages.versions() == {}
    installed(tilelang__language="", cutlass__cute="")
    known = {"tilelang": "0.1.6"}

    def version(name):
        if name not in known:
            raise importlib.metadata.PackageNotFoundError(name)
        return known[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert kernel_packages.versions() == {"tilelang": "0.1.6", "nvidia-cutlass-dsl": "unknown"}


@pytest.mark.parametrize(("statement", "title", "distribution"), [
    ("import tilelang", "TileLang", "tilelang"),
    ("import tilelang.language as T", "TileLang", "tilelang"),
    ("from cutlass import cute", "the CuTe DSL", "nvidia-cutlass-dsl"),
    ("import ｔilelang", "TileLang", "tilelang"),
])  # fmt: skip
def test_a_missing_package_is_named(nothing_installed, statement, title, distribution):
    with bench() as client:
        client.attach()
        raised = client.load(f"{statement}\n\ndef run():\n    pass\n", cpp=True)
    assert isinstance(raised, messages.Raised) and raised.kind == "unsupported"
    assert raised.feature is None
    assert raised.message == (
        f"{title} is not installed in the Python of this machine; install it: {sys.executable} -m pip install"
        f" {distribution} (kernels of {title} run only on a GPU)"
    )
    assert raised.frames[-1]["text"] == statement


def test_without_a_gpu_its_kernels_are_not_run(installed):
    installed(tilelang__language="")
    with bench() as client:
        client.attach()
        raised = client.load("import tilelang\n\ndef run():\n    pass\n", cpp=True)
    assert (raised.kind, raised.message) == (
        "unsupported", "kernels of TileLang run only on a GPU; judge this candidate on one",
    )  # fmt: skip


def test_candidate_that_does_without_a_missing_package_is_judged(nothing_installed):
    source = """
        try:
            import tilelang
        except ImportError:
            tilelang = None

        def run():
            return 1
        """
    with bench() as client:
        client.attach()
        loaded = client.load(source, cpp=True)
    assert isinstance(loaded, messages.Loaded), loaded


def test_missing_package_in_a_triton_task_is_the_candidate_s_fault():
    with bench() as client:
        client.attach()
        raised = client.load("import tilelang\n\ndef run():\n    pass\n")
    assert (raised.kind, raised.message) == ("import", "No module named 'tilelang'")


def test_gpu_refuses_only_missing_packages(installed, monkeypatch):
    monkeypatch.setattr(gaps, "_first", None)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    installed(tilelang__language="VALUE = 7")
    kernel_packages.install("import tilelang, cutlass", emulated=False)
    assert importlib.import_module("tilelang.language").VALUE == 7
    with pytest.raises(
        ImportError,
        match="the CuTe DSL is not installed in the Python of this machine; install it: .* nvidia-cutlass-dsl$",
    ) as told:
        importlib.import_module("cutlass.cute")
    assert isinstance(told.value, gaps.Unavailable)


def test_sources_without_kernel_packages_get_no_import_hook(nothing_installed, monkeypatch):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    before = list(sys.meta_path)
    kernel_packages.install("import triton", emulated=True)
    assert sys.meta_path == before


KERNEL = """
    class JITKernel:
        def __call__(self, x):
            import numpy
            y = numpy.maximum(x.numpy(), 0)
            import torch
            return torch.from_numpy(y)
    """


def test_compiled_kernels_are_observed_only_during_a_call(installed):
    installed(tilelang__language="", tilelang__jit__kernel=KERNEL)
    kernel = importlib.import_module("tilelang.jit.kernel").JITKernel()
    plain, seen = type(kernel).__call__, []

    def observe(function, *args, **kwargs):
        seen.append(args)
        return function(*args, **kwargs)

    x = torch.tensor([-1.0, 2.0])
    with kernel_packages.watched(observe):
        assert torch.equal(kernel(x), x.relu())
    assert [args[0] is x for args in seen] == [True]
    assert type(kernel).__call__ is plain


def test_tensor_of_another_package_maps_to_its_memory():
    x = torch.zeros(64)
    stand_in = types.SimpleNamespace(data_ptr=x.data_ptr())
    ledger = Ledger()
    ledger.begin([x])
    assert _address(x) is x
    assert _address(3) == 3
    [record] = ledger.reach([_address(stand_in)])
    ledger.launch(True, [record], lambda: ("a kernel", 1))
    assert ledger.end(x)["own"] == 64
