"""Triton kernels of a user's reference where there is no GPU: compiled to Triton IR, which is executed as candidates' is.

The kernels are trusted code, so this happens in the oracle itself. Their results are what the reference's author takes for right; an
access outside of a tensor is an error, as results then depend on what lies there.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensor, UnsupportedFakeTensorException

from kbx.executor.arguments import described
from kbx.executor.server import argument
from kbx.ttir.executor import Kernel
from kbx.ttir.findings import MISALIGNED, OUT_OF_BOUNDS
from kbx.ttir.launch import Launch
from kbx.ttir.memory import Memory, Region

CAPABILITY = 90
"""Compute capability that kernels are compiled for, times ten."""
_DEVICE = "kbx: the CPU"
"""Triton keeps what it has compiled by device: this one's is none that a GPU would find."""


class _Properties:
    """What kernels and their authors ask of a device: that of an H100."""

    def get_device_properties(self, device: object) -> dict[str, int]:
        return {
            "max_shared_mem": 232448, "max_num_regs": 65536, "multiprocessor_count": 132, "warpSize": 32,
            "sm_clock_rate": 1_500_000, "mem_clock_rate": 2_000_000, "mem_bus_width": 5120,
        }  # fmt: skip


class _Driver:
    """As much of Triton's driver as lies before a launch."""

    utils = _Properties()

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", CAPABILITY, 32)

    def get_current_device(self) -> str:
        return _DEVICE

    def get_current_stream(self, device: object = None) -> int:
        return 0

    def get_device_capability(self, device: object = None) -> tuple[int, int]:
        return divmod(CAPABILITY, 10)

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")


class _Compiled:
    """Stands where Triton's compiled kernel stands."""

    function = packed_metadata = None

    def __init__(self, source: Any, text: str) -> None:
        self._types, self._kernel = source.signature, Kernel(text)

    def launch_metadata(self, grid: object, stream: object, *arguments: object) -> None:
        return None

    def run(self, x: int, y: int, z: int, *rest: Any) -> None:
        arguments = rest[6:]  # after stream, function, two of metadata, and two hooks
        names, told, storages = described(arguments, self._types)
        memory = Memory([_region(*each) for each in storages.items()])
        launch = Launch((x, y, z), memory, checks=False)
        self._kernel.run(launch, [argument(each) for each in told], names)
        wrong = next((each for each in launch.findings if each.kind in (OUT_OF_BOUNDS, MISALIGNED)), None)
        if wrong is not None:
            raise IndexError(f"the kernel reads or writes outside of its tensors: {wrong}")
        written = {region.start for region in memory.regions if region.written}
        for each in arguments:
            if isinstance(each, torch.Tensor) and each.untyped_storage().data_ptr() in written:
                each.detach().as_strided(
                    (0,), (1,)
                ).zero_()  # changes nothing, and tells whoever watches PyTorch's operations


def _region(start: int, length: int) -> Region:
    return Region(start, np.ctypeslib.as_array((ctypes.c_uint8 * length).from_address(start)))


def _text(source: Any, target: Any, options: Any) -> str:
    """The Triton IR of a kernel, after the passes that all backends share."""
    from triton._C.libtriton import ir
    from triton.compiler.compiler import make_backend

    stages: dict[str, Any] = {}
    backend, context = make_backend(target), ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    backend.add_stages(stages, options, source.language)
    functions, modules = backend.get_codegen_implementation(options), backend.get_module_map()
    module = source.make_ir(target, options, functions, modules, context)
    return str(stages["ttir"](module, {}))


def _compile(
    kernel: Any, key: Any, signature: Any, device: Any, constexprs: Any, options: Any, attrs: Any, warmup: bool
) -> _Compiled:
    """In place of ``JITFunction._do_compile``."""
    cache, _, target, _, _ = kernel.device_caches[device]
    source = kernel.ASTSource(kernel, signature, constexprs, attrs)
    made = cache[key] = _Compiled(source, _text(source, target, options))
    return made


def _tuned(tuner: Any, *args: Any, **kwargs: Any) -> Any:
    """In place of ``Autotuner.run``: the first configuration, and none is remembered as the fastest."""
    tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
    config = tuner.prune_configs(kwargs)[0]
    chosen = config.all_kwargs()
    if config.pre_hook is not None:
        config.pre_hook({**tuner.nargs, **kwargs, **chosen})
    return tuner.fn.run(*args, **kwargs, **chosen)


def _of_values(run: Callable[..., Any]) -> Callable[..., Any]:
    """``JITFunction.run``, which asks where tensors lie before it launches."""

    def checked(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(each, FakeTensor) for each in (*args, *kwargs.values())):
            raise UnsupportedFakeTensorException("a Triton kernel needs values")
        return run(kernel, *args, **kwargs)

    return checked


@contextlib.contextmanager
def launching() -> Iterator[None]:
    """While it lasts, kernels run on tensors of the CPU. Does nothing where nobody has imported Triton."""
    if "triton" not in sys.modules:
        yield
        return
    import triton
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    with (
        mock.patch.object(triton.runtime.driver, "_active", _Driver()),
        mock.patch.object(JITFunction, "_do_compile", _compile),
        mock.patch.object(JITFunction, "run", _of_values(JITFunction.run)),
        mock.patch.object(Autotuner, "run", _tuned),
    ):
        yield
