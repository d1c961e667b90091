"""What happens to a Triton launch: compiled for a real architecture always, executed by the GPU or by another process.

Without a GPU, ``emulate`` gives Triton a driver for a machine that is not there. Everything up to the launch is then
Triton's own: binding, specialisation, the errors of compiling, the shared-memory limit, grids as functions, hooks, autotuning. Two
steps differ: ``compilation`` has kernels compiled elsewhere, and the launcher hands the bound arguments to ``execution``.

``LaunchLog`` listens, on either machine, to Triton's own hooks for what was compiled and launched.
"""

import contextlib
import hashlib
import json
import tempfile
import time
from pathlib import Path

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from kbx.executor.compiler import LIKE
from kbx.runner import cubin, execution, gaps, tuning
from kbx.runner.architectures import ARCHITECTURES
from kbx.runner.warmup import increment


class LaunchLog:
    """Counts launches and lists compiled kernels. Triton calls it in this process; nothing here is evidence."""

    def __init__(self):
        self.launches = 0
        self._compiled, self._seconds, self._texts = [], {}, {}

    def install(self):
        """Joins Triton's hooks; call once."""
        triton.knobs.runtime.kernel_load_end_hook.add(self._on_load)
        triton.knobs.runtime.launch_enter_hook.add(self._on_launch)
        triton.knobs.compilation.listener = self._on_compile

    def take_launches(self):
        """Launches since the last call."""
        count, self.launches = self.launches, 0
        return count

    def take_compiled(self):
        """Kernels loaded since the last call: ``kernel, arch, registers, shared_bytes, spills`` (bytes), ``seconds``. Without those
        that are executed and have no machine code of their own."""
        taken, self._compiled = self._compiled, []
        return taken

    def text_of(self, function):
        """The Triton IR of a kernel by its handle, ``function``; None if it is not known."""
        file = self._texts.get(function)
        return file.read_text() if file is not None and file.exists() else None

    def _on_launch(self, metadata):
        self.launches += 1

    def _on_compile(self, *, src, metadata, metadata_group, times, cache_hit, **_):
        if not cache_hit:
            self._seconds[metadata["hash"]] = times.total / 1e6

    def _on_load(self, module, function, name, metadata_group, hash):
        files = {Path(p).suffix: Path(p) for p in metadata_group.values()}
        self._texts[function] = files.get(".ttir")
        metadata = json.loads(files[".json"].read_text())
        if LIKE in metadata:
            return
        entry = {"kernel": name, "arch": f"sm_{metadata['target']['arch']}", "shared_bytes": metadata["shared"]}
        entry["registers"], entry["spills"] = cubin.usage(files[".cubin"].read_bytes())
        if hash in self._seconds:
            entry["seconds"] = self._seconds.pop(hash)
        self._compiled.append(entry)


# ---------------------------------------------------------------- the driver of a machine without a GPU

_runs = True


class _Launcher:
    """Stands where Triton's compiled launcher stub stands: one for each compiled kernel."""

    def __init__(self, src, metadata):
        self._function, self._types = src.fn, src.signature
        self._number = getattr(src, "kbx_number", None)
        if not _runs:
            _compile_launcher(src, metadata)

    def __call__(self, x, y, z, stream, function, packed, launch_metadata, enter, exit, *arguments):
        if enter is not None:
            enter(launch_metadata)
        if not isinstance(self._function, triton.runtime.JITFunction) or self._function.is_gluon():
            raise gaps.noted(gaps.Unsupported("gluon"))
        if x * y * z > 0 and _runs:
            _refuse_host_tensors(arguments)
            if self._number is None:
                raise gaps.noted(gaps.Unsupported("a kernel that the candidate has compiled itself"))
            self.kbx_reached = execution.launch(self._number, self._types, (x, y, z), arguments)
        if exit is not None:
            exit(launch_metadata)


def _compile_launcher(src, metadata):
    """Leaves the stub that a GPU's launcher needs in Triton's cache: up to Triton 3.6 a C compiler makes one for each signature."""
    # Without CUDA's libraries there is none, and later versions have one for all.
    with contextlib.suppress(Exception):
        from triton.backends.nvidia.driver import CudaLauncher

        CudaLauncher(src, metadata)


def _refuse_host_tensors(arguments):
    """Raises what the CUDA launcher raises for a tensor that the candidate left on the host."""
    for position, argument in enumerate(arguments):
        if isinstance(argument, torch.Tensor) and argument.device.type == "cpu":
            raise ValueError(f"Pointer argument (at {position}) cannot be accessed from Triton (cpu tensor?)")


class _Utils:
    def __init__(self, arch):
        self._arch = arch

    def get_device_properties(self, device):
        return {
            "max_shared_mem": self._arch.shared_bytes,
            "max_num_regs": 65536,
            "multiprocessor_count": self._arch.processors,
            "warpSize": 32,
            "sm_clock_rate": 1_500_000,
            "mem_clock_rate": 2_000_000,
            "mem_bus_width": 5120,
        }

    def load_binary(self, name, binary, shared, device):
        """``module, function, registers, spilled words, most threads a block``, as the CUDA driver tells them."""
        registers, spilled = cubin.usage(binary)
        return "module", name, registers, spilled // 4, 1024


class CompileOnlyDriver(DriverBase):
    """Triton's driver interface for an architecture that is compiled for and not there."""

    launcher_cls = _Launcher

    def __init__(self, arch):
        self._arch = arch
        self.utils = _Utils(arch)

    @classmethod
    def is_active(cls):
        return True

    def get_current_target(self):
        return GPUTarget("cuda", self._arch.capability, 32)

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        pass

    def get_current_stream(self, device=0):
        return 0

    def get_device_capability(self, device=0):
        return divmod(self._arch.capability, 10)

    def get_active_torch_device(self):
        return torch.device("cuda", 0)

    def get_device_interface(self):
        return torch.cuda

    def map_python_to_cpp_type(self, ty):
        return ty

    def get_benchmarker(self):
        return tuning.run_once

    def get_empty_cache_for_benchmark(self):
        return torch.empty(1, dtype=torch.int)

    def clear_cache(self, cache):
        pass

    def assemble_tensormap_to_arg(self, tensormaps_info, args):
        return args


def emulate(arch_name):
    """Makes Triton compile for ``arch_name`` and launch on CPU tensors, for the rest of this process."""
    triton.runtime.driver.set_active(CompileOnlyDriver(ARCHITECTURES[arch_name]))
    triton.compiler.compiler.max_shared_mem.cache_clear()
    tuning.take_first()


def only_compile():
    """After ``emulate``: launches are compiled and not run."""
    global _runs
    _runs = False


def warm(arch_name="sm_90"):
    """Compiles one tiny kernel, so that forked children find every lazy part of the compiler loaded, and where there is a CUDA
    driver to link with also Triton's launcher, which a C compiler makes.

    Starts no thread and never touches CUDA; its cache is a folder of its own, so that it does compile. Returns the
    seconds it took.
    """
    start = time.perf_counter()
    _identify_compiler()
    _warm_launcher()
    target = GPUTarget("cuda", ARCHITECTURES[arch_name].capability, 32)
    signature = {"pointer": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = triton.compiler.ASTSource(increment, signature, {(2,): 64})
    with tempfile.TemporaryDirectory(prefix="kbx-warm-") as folder, triton.knobs.cache.scope():
        triton.knobs.cache.dir = folder
        triton.compile(source, target=target)
    return time.perf_counter() - start


def _identify_compiler():
    """Keys of Triton's cache name its own code. Here by what its files are called, their sizes and times: reading all of libtriton, as
    Triton does once in a process, takes a third of a second."""
    root = Path(triton.__file__).parent
    files = sorted(file for file in root.rglob("*") if file.suffix in (".py", ".so"))
    listed = [(str(file.relative_to(root)), (found := file.stat()).st_size, found.st_mtime_ns) for file in files]
    key = f"{triton.__version__}-{hashlib.sha256(repr(listed).encode()).hexdigest()}"
    for module in (triton.compiler.compiler, triton.runtime.cache, triton.runtime.autotuner):
        if hasattr(module, "triton_key"):  # which of them has it depends on the version
            module.triton_key = lambda: key


def _warm_launcher():
    """Children find the driver's object there, and need not compile its launcher again. It asks nothing of the device."""
    # Where there is no CUDA, or Triton keeps its launcher elsewhere, each child does what it did without this.
    with contextlib.suppress(Exception):
        from triton.backends.nvidia.driver import CudaDriver

        triton.runtime.driver.set_active(CudaDriver())
