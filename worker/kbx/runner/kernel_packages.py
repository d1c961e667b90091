"""Python packages other than Triton in which candidates write kernels: TileLang and the CuTe DSL.

Where a package is not installed, importing it raises ``Unavailable`` with the command that installs it. Without a GPU the
import does so in any case: nothing else runs these kernels. With one, calls of compiled kernels are observed as those of a
candidate's C++ are.
"""

import contextlib
import functools
import importlib.metadata
import importlib.util
import os
import sys
import unicodedata
from typing import NamedTuple

from kbx.runner.gaps import Unavailable, optional


class Package(NamedTuple):
    """``module`` is what is imported, ``part`` a folder or file in it that tells it from another package of that name."""

    module: str
    part: str
    title: str
    distribution: str
    kernels: tuple
    """``(module, class)`` of compiled kernels, which are called."""


PACKAGES = (
    Package("tilelang", "language", "TileLang", "tilelang", (("tilelang.jit.kernel", "JITKernel"),)),
    Package(
        "cutlass", "cute", "the CuTe DSL", "nvidia-cutlass-dsl",
        (("cutlass.base_dsl.jit_executor", "JitCompiledFunction"), ("cutlass.base_dsl.jit_executor", "JitExecutor")),
    ),
)  # fmt: skip


class Missing(Unavailable, ImportError):
    """Such a package cannot be used on this machine. An ``ImportError`` too: candidates may have something to fall back to."""


def absent():
    """Modules of the packages that are not installed. Speaks of the machine as long as no candidate's code has run in this process."""
    return [package.module for package in PACKAGES if not _is_installed(package)]


def versions():
    """Versions of those that are installed, by the name that installs them."""
    return {package.distribution: _version(package) for package in PACKAGES if _is_installed(package)}


def _version(package):
    try:
        return importlib.metadata.version(package.distribution)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _is_installed(package):
    try:
        spec = importlib.util.find_spec(package.module)
    except (ImportError, ValueError):
        return False
    folders = spec.submodule_search_locations if spec else None
    names = (package.part, f"{package.part}.py")
    return any(os.path.exists(os.path.join(folder, name)) for folder in folders or () for name in names)


class _Finder:
    """Refuses to import ``package``."""

    def __init__(self, package, message):
        self._package, self._message = package, message

    def find_spec(self, name, path=None, target=None):
        if name == self._package.module:
            raise optional(Missing(self._message))
        return


def install(source, emulated):
    """Sees to imports of the packages that ``source`` names. ``emulated``: there is no GPU."""
    source = unicodedata.normalize("NFKC", source)  # as Python reads names
    for package in PACKAGES:
        if package.module in source and (message := _lack(package, emulated)) is not None:
            sys.meta_path.insert(0, _Finder(package, message))


def _lack(package, emulated):
    needs = f"kernels of {package.title} run only on a GPU"
    if not _is_installed(package):
        command = f"{sys.executable} -m pip install {package.distribution}"
        text = f"{package.title} is not installed in the Python of this machine; install it: {command}"
        return f"{text} ({needs})" if emulated else text
    return f"{needs}; judge this candidate on one" if emulated else None


@contextlib.contextmanager
def watched(observe):
    """Calls of compiled kernels are ``observe(function, *args, **kwargs)`` meanwhile, as in ``extensions.watched``."""
    replaced = []
    for module, name in (kernel for package in PACKAGES for kernel in package.kernels):
        kind = getattr(sys.modules.get(module), name, None)
        call = vars(kind).get("__call__") if isinstance(kind, type) else None
        if call is not None:
            replaced.append((kind, call))
            kind.__call__ = _observed(observe, call)
    try:
        yield
    finally:
        for kind, call in replaced:
            kind.__call__ = call


def _observed(observe, call):
    @functools.wraps(call)
    def observed(kernel, *args, **kwargs):
        return observe(functools.partial(call, kernel), *args, **kwargs)

    return observed
