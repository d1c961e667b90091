"""Runs code written for CUDA on CPU tensors: tensors report ``cuda:0`` as their device, and ``torch.cuda`` is emulated.

A tensor is *on the device* unless it is known to be on the host: made by a factory without a device, or by an explicit move to the
CPU. That knowledge is an attribute of the tensor object and is lost by operations on it, so a candidate's error may be missed here
(a run on a GPU finds it), but a device tensor is never treated as a host tensor.

Installed once, in the process that runs one candidate.
"""

import contextlib
import os
import time
import types

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _device

from kbx import standins
from kbx.runner import backward, gaps, large, native, threads
from kbx.runner.architectures import ARCHITECTURES
from kbx.runner.storages import storage_of

DEVICE = torch.device("cuda", 0)
_HOST = "_kbx_on_host"


def on_host(tensor):
    return getattr(tensor, _HOST, False)


def lies_on_device(tensor):
    """Whether memory is torch's own. numpy's, and what else a tensor may be made over, is the host's, and a move copies it."""
    if not native.guards() or storage_of(tensor) is None or not tensor.numel():
        return True
    return native.library.covers(tensor.data_ptr()) or large.holds(tensor.data_ptr())


def _means(device, kind):
    """Whether a ``device`` argument (device, string or number) has type ``kind``."""
    if isinstance(device, torch.device):
        return device.type == kind
    if isinstance(device, str):
        return device == kind or device.startswith(kind + ":")
    return kind == "cuda" and type(device) is int


def _move(tensor, to_host, copy):
    """Moves a tensor between host and device; copies only if a GPU would."""
    if on_host(tensor) == to_host and not copy and (to_host or lies_on_device(tensor)):
        return tensor
    moved = tensor.clone()
    if to_host:
        setattr(moved, _HOST, True)
    return moved


def _to(tensor, *args, **kwargs):
    """``Tensor.to``: ``_move`` handles the device, torch the rest."""
    args, kwargs = list(args), dict(kwargs)
    device = kwargs.pop("device", None)
    if args and isinstance(args[0], (str, torch.device, int)) and not isinstance(args[0], bool):
        device = args.pop(0)
        rest = zip(("dtype", "non_blocking", "copy"), args, strict=False)
        args, kwargs = [], {**kwargs, **{name: value for name, value in rest if value is not None}}
    if args and isinstance(args[0], torch.Tensor):
        other = args.pop(0)
        device = "cpu" if on_host(other) else "cuda"
        args.insert(0, other.dtype)
    converted = torch.Tensor.to(tensor, *args, **kwargs) if args or kwargs else tensor
    if device is None:
        if on_host(tensor) and converted is not tensor:
            setattr(converted, _HOST, True)
        return converted
    if not (_means(device, "cpu") or _means(device, "cuda")):
        return torch.Tensor.to(tensor, device, *args, **kwargs)
    if converted is not tensor and on_host(tensor):
        setattr(converted, _HOST, True)
    return _move(converted, _means(device, "cpu"), False)


def _belongs_on_host(device, args):
    """Whether a factory's result is on the host; made from a tensor (``torch.as_tensor``) it is where that tensor is."""
    if device is None and args and isinstance(args[0], torch.Tensor):
        return on_host(args[0])
    return device is None or _means(device, "cpu")


def _made(result, args, to_host):
    """Marks a factory's result as on host or device; if it is the argument itself, the other side gets a copy."""
    if (args and result is args[0]) or not (to_host or lies_on_device(result)):
        return _move(result, to_host, False)
    if to_host:
        setattr(result, _HOST, True)
    return result


def _device_of(tensor):
    real = torch.Tensor.device.__get__(tensor)
    return real if real.type != "cpu" or on_host(tensor) else DEVICE


_ANSWERS = {
    torch.Tensor.device.__get__: _device_of,
    torch.Tensor.is_cuda.__get__: lambda t: _device_of(t).type == "cuda",
    torch.Tensor.is_cpu.__get__: lambda t: _device_of(t).type == "cpu",
    torch.Tensor.get_device: lambda t: -1 if on_host(t) else 0,
    torch.Tensor.cuda: lambda t, *args, **kwargs: _move(t, False, False),
    torch.Tensor.cpu: lambda t, *args, **kwargs: _move(t, True, False),
    torch.Tensor.to: _to,
    torch.Tensor.pin_memory: lambda t, *args: t,
    torch.Tensor.is_pinned: lambda t, *args: on_host(t),
}


_UNINITIALISED = frozenset(
    (torch.empty, torch.empty_like, torch.empty_strided, torch.empty_permuted, torch.Tensor.new_empty)
)
"""Whose results are filled, see ``native.fill``: elements that a kernel leaves out must not hold what happened to lie there, which could be
right and differs from run to run."""
_poisons = True


def leave_empty():
    """For the rest of this process no values are read, or the allocator fills: empty tensors need not be filled here."""
    global _poisons
    _poisons = False


class _CudaOnCpu(TorchFunctionMode):
    """Intercepts every torch function: devices in arguments become the CPU, devices in results become CUDA."""

    def __init__(self):
        super().__init__()
        self._factories = frozenset(_device._device_constructors())

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        answer = _ANSWERS.get(function)
        if answer is not None:
            return answer(*args, **kwargs)
        device = kwargs.get("device")
        if device is None and function in self._factories:
            device = _device.CURRENT_DEVICE  # torch would pass it on below this mode
        if device is not None and (_means(device, "cuda") or _means(device, "cpu")):
            kwargs = {**kwargs, "device": "cpu"}
        if kwargs.get("pin_memory"):
            kwargs = {**kwargs, "pin_memory": False}
        with backward.handling(self, function):
            result = function(*args, **kwargs)
        if _poisons and function in _UNINITIALISED and type(result) is torch.Tensor:
            result.untyped_storage().fill_(native.filler)
        if function in self._factories and type(result) is torch.Tensor:
            return _made(result, args, _belongs_on_host(device, args))
        return result


class _Stream:
    """A stream that has always finished: work on the CPU is done when the call returns."""

    def __init__(self, device=None, priority=0, **_):
        self.device, self.device_index, self.priority, self.cuda_stream, self.stream_id = DEVICE, 0, priority, 0, 0

    def synchronize(self):
        pass

    wait_stream = wait_event = lambda self, other: None

    def query(self):
        return True

    def is_capturing(self):
        return False

    def record_event(self, event=None):
        event = event or _Event()
        event.record(self)
        return event

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class _Event:
    """An event on the host's clock."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, **_):
        self._time = 0.0

    def record(self, stream=None):
        self._time = time.perf_counter()

    def elapsed_time(self, end):
        return (end._time - self._time) * 1e3

    def query(self):
        return True

    synchronize = wait = lambda self, stream=None: None


class _DefaultGenerator:
    """The GPU's default generator: a seed and an offset in 16 bytes, which kernels that draw numbers themselves read and advance.
    What PyTorch draws is the CPU's."""

    device = DEVICE

    def __init__(self):
        self._begin()

    def _begin(self):
        self._seed, self._offset = torch.default_generator.initial_seed(), 0

    def manual_seed(self, seed):
        torch.default_generator.manual_seed(seed)
        self._begin()
        return self

    def seed(self):
        torch.default_generator.seed()
        self._begin()
        return self._seed

    def initial_seed(self):
        return self._seed

    def get_offset(self):
        return self._offset

    def set_offset(self, offset):
        self._offset = offset

    def get_state(self):
        state = torch.tensor([self._seed - (self._seed >> 63 << 64), self._offset]).view(torch.uint8)
        setattr(state, _HOST, True)
        return state

    def set_state(self, state):
        seed, self._offset = state.view(torch.int64).tolist()
        self._seed = seed % 2**64
        return self


class _NoGraph:
    """CUDA graph objects: launches run immediately here, and recording is unsupported."""

    def __init__(self, *_, **__):
        _no_graphs()


def _no_graphs(*_, **__):
    raise gaps.optional(gaps.Unsupported("CUDA graphs"))


_GRAPHS = {
    "CUDAGraph": _NoGraph, "graph": _NoGraph, "make_graphed_callables": _no_graphs, "graph_pool_handle": _no_graphs,
}  # fmt: skip


def _properties(arch):
    return types.SimpleNamespace(
        name=arch.card, major=arch.capability // 10, minor=arch.capability % 10, total_memory=arch.memory_bytes,
        multi_processor_count=arch.processors, warp_size=32, L2_cache_size=arch.l2_bytes, is_integrated=False,
        is_multi_gpu_board=False, max_threads_per_block=1024, regs_per_multiprocessor=65536, gcnArchName="",
        max_threads_per_multi_processor=arch.threads_per_processor, shared_memory_per_block=49152,
        shared_memory_per_block_optin=arch.shared_bytes, shared_memory_per_multiprocessor=arch.shared_per_processor,
    )  # fmt: skip


def _nothing():
    """A function that does nothing; one for each name, as torch.compile must distinguish them."""
    return lambda *args, **kwargs: None


def _cuda_functions(arch):
    """Replacements for attributes of ``torch.cuda``, by name."""
    properties = _properties(arch)
    stream, generator = _Stream(), _DefaultGenerator()
    silent = ("synchronize", "set_device", "empty_cache", "init", "reset_peak_memory_stats", "ipc_collect",
              "reset_max_memory_allocated", "set_stream", "_lazy_init")  # fmt: skip
    # Not torch.manual_seed, which seeds CUDA by calling these.
    seeds = {
        "manual_seed": generator.manual_seed,
        "manual_seed_all": generator.manual_seed,
    }
    memory = {
        name: lambda device=None: 0
        for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")
    }
    return {
        **{name: _nothing() for name in silent},
        **seeds,
        "default_generators": (generator,),
        **memory,
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "_is_in_bad_fork": lambda: False,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "is_current_stream_capturing": lambda: False,
        "get_device_properties": lambda device=None: properties,
        "get_device_capability": lambda device=None: (properties.major, properties.minor),
        "get_device_name": lambda device=None: properties.name,
        "mem_get_info": lambda device=None: (arch.memory_bytes, arch.memory_bytes),
        "is_bf16_supported": lambda including_emulation=True: True,
        "get_arch_list": lambda: [arch.name],
        "device": lambda device=None: contextlib.nullcontext(),
        "device_of": lambda tensor=None: contextlib.nullcontext(),
        "current_stream": lambda device=None: stream,
        "default_stream": lambda device=None: stream,
        "stream": lambda stream=None: contextlib.nullcontext(),
        "Stream": _Stream,
        "Event": _Event,
        **_GRAPHS,
    }


def install(arch_name):
    """Makes this process appear to have a GPU of ``arch_name``, permanently. Call after ``launches.emulate``."""
    os.environ["TORCHDYNAMO_DISABLE"] = (
        "1"  # torch.compile would look for the GPU's driver; its functions run as they are
    )
    for name, value in _cuda_functions(ARCHITECTURES[arch_name]).items():
        setattr(torch.cuda, name, value)
    for name, value in _GRAPHS.items():
        setattr(torch.cuda.graphs, name, value)
    for name in ("_lazy_init", "current_device", "device_count"):
        setattr(torch.cuda.random, name, getattr(torch.cuda, name))
    torch.accelerator.current_stream = torch.cuda.current_stream
    torch.Generator = standins.Generator
    torch.autocast = torch.amp.autocast = standins.Autocast
    torch.cuda.amp.autocast = standins.CudaAutocast
    # Answered before torch sees the stream, which must be of its own type.
    torch.Tensor.record_stream = lambda self, stream: None
    # Changes the layout of weights for cuDNN, which is absent.
    torch.nn.RNNBase.flatten_parameters = lambda self: None
    _CudaOnCpu().__enter__()
    threads.enter_in_each(_CudaOnCpu)
