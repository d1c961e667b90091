"""Kernels compiled to Triton IR for a named architecture, and launched on torch's tensors of this process."""

import ctypes
import functools
import inspect

import numpy as np
import torch
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource, make_backend

from kbx.ttir.executor import Kernel, TensorDescriptor
from kbx.ttir.launch import ASCENDING, Launch
from kbx.ttir.memory import Memory, Region

TYPES = {
    torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16",
    torch.float8_e4m3fn: "fp8e4nv", torch.float8_e5m2: "fp8e5", torch.int64: "i64", torch.int32: "i32", torch.int16: "i16",
    torch.int8: "i8", torch.uint8: "u8", torch.bool: "i1",
}  # fmt: skip


def type_of(argument):
    """Triton's name for the type of an argument."""
    if hasattr(argument, "block_shape"):
        return f"tensordesc<{TYPES[argument.base.dtype]}{list(argument.block_shape)}>"
    if isinstance(argument, torch.Tensor):
        return f"*{TYPES[argument.dtype]}"
    if isinstance(argument, bool):
        return "i1"
    return "fp32" if isinstance(argument, float) else "i32" if -(2**31) <= argument < 2**31 else "i64"


@functools.lru_cache(maxsize=256)
def _text(function, signature, constants, capability, kind, stage):
    target = GPUTarget("cuda", capability, 32)
    positions = {(function.arg_names.index(name),): value for name, value in constants}
    source, backend = kind(function, dict(signature), positions), make_backend(target)
    options, context, stages = backend.parse_options({}), ir.context(), {}
    ir.load_dialects(context)
    backend.load_dialects(context)
    backend.add_stages(stages, options, source.language)
    made = source.make_ir(
        target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
    )
    return str(stages[stage](made, {}))


def gluon_text_of(function, arguments, constants):
    """The same for a kernel in Gluon, which has layouts from the beginning."""
    from triton.experimental.gluon._runtime import GluonASTSource

    return text_of(function, arguments, constants, kind=GluonASTSource, stage="ttgir")


def text_of(function, arguments, constants, capability=90, kind=ASTSource, stage="ttir"):
    """The IR that Triton makes of a kernel for these arguments; no binary is made of it."""
    names = [name for name in function.arg_names if name not in constants]
    signature = {name: type_of(argument) for name, argument in zip(names, arguments, strict=True)}
    signature |= dict.fromkeys(constants, "constexpr")
    ordered = tuple((name, signature[name]) for name in function.arg_names)
    return _text(function, ordered, tuple(constants.items()), capability, kind, stage)


def region_of(tensor, name="", filler=None):
    """The storage of a tensor on the CPU."""
    storage = tensor.untyped_storage()
    if not storage.nbytes():
        return Region(storage.data_ptr(), np.zeros(0, np.uint8), name)
    memory = (ctypes.c_uint8 * storage.nbytes()).from_address(storage.data_ptr())
    return Region(storage.data_ptr(), np.frombuffer(memory, np.uint8), name, filler)


def launch_on_tensors(kernel, grid, arguments, seed=0, order=ASCENDING, checks=True, more=None, names=(), filler=None):
    """Runs a kernel on tensors, host descriptors and numbers, in the order of its parameters; returns the findings."""
    regions, passed = {}, []
    for argument in arguments:
        described = hasattr(argument, "block_shape")
        base = argument.base if described else argument
        if isinstance(base, torch.Tensor):
            regions.setdefault(base.untyped_storage().data_ptr(), region_of(base, filler=filler))
        if described:
            nan, tf32 = getattr(argument, "padding", "zero") == "nan", getattr(argument, "round_f32_to_tf32", False)
            passed.append(TensorDescriptor(base.data_ptr(), tuple(argument.shape), tuple(argument.strides), nan, tf32))
        else:
            passed.append(base.data_ptr() if isinstance(base, torch.Tensor) else base)
    launch = Launch((*grid, 1, 1)[:3], Memory(list(regions.values()), more), seed, order, checks)
    kernel.run(launch, passed, names)
    return launch.findings


def run(
    function, grid, *arguments, seed=0, order=ASCENDING, checks=True, more=None, filler=None, capability=90, **constants
):
    """Compiles and runs a kernel; returns the findings."""
    kernel = Kernel(text_of(function, arguments, constants, capability))
    names = [name for name in function.arg_names if name not in constants]
    return launch_on_tensors(kernel, grid, arguments, seed, order, checks, more, names, filler)


def interpreted(function, grid, *arguments, **constants):
    """The same launch by ``second_opinion``."""
    import second_opinion as interpreter

    given = iter(arguments)
    bound = [constants[name] if name in constants else next(given) for name in function.arg_names]
    types = {
        name: type_of(value) for name, value in zip(function.arg_names, bound, strict=True) if name not in constants
    }
    interpreter.launch(function, types, (*grid, 1, 1)[:3], bound)


def line_of(function, text):
    """The line of its file where a kernel has ``text``."""
    lines, first = inspect.getsourcelines(function.fn)
    return first + next(i for i, line in enumerate(lines) if text in line)


def only(findings, kind, function, text):
    """The one finding there is: its kind and the line of the kernel."""
    assert [f.kind for f in findings] == [kind], [str(f) for f in findings]
    (found,) = findings
    assert found.file == inspect.getsourcefile(function.fn)
    assert found.line == line_of(function, text), str(found)
    return found
