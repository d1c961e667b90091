"""What a device can do at best, measured: memory, matrix products in each precision, and the least time a kernel shows."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from kbx.clock import Call
from kbx.messages.oracle import Precision, Rates
from kbx.oracle import faults

if TYPE_CHECKING:
    from kbx.oracle.cuda import CudaDevice

COPY_BYTES = 1 << 30
"""Size of the buffer whose copy gives the bandwidth: many times the L2 cache."""
SIDE = 8192
"""Side of the matrices whose product gives a rate."""
WIDE_SIDE = 4096
"""The same for float64, in which some devices are a hundred times slower than in float32."""
LEAD = 2
"""As in ``messages.runner.Measure``: time to launch one kernel."""
REPEATS = 10
GLANCES = 3


def measure(device: CudaDevice, copy_bytes: int = COPY_BYTES, side: int = SIDE, wide_side: int = WIDE_SIDE) -> Rates:
    """Rates of a ``CudaDevice``, as in ``messages.oracle.Peaks``; a product that the device or this torch cannot do is left out."""
    tiny = torch.zeros(1, device=device.torch_device)
    tflops: dict[Precision, float] = {}
    rates: Rates = {
        "copy_gbs": _copy_gbs(device, copy_bytes),
        "empty_ms": min(_times(device, lambda: None, REPEATS)),
        "launch_ms": _typical(device, lambda: tiny.add_(1)),
        "tflops": tflops,
    }
    products: dict[Precision, Callable[[], tuple[Callable[[], Any], int]]] = {
        "fp32": lambda: _floats(device, torch.float32, side),
        "tf32": lambda: _floats(device, torch.float32, side),
        "fp16": lambda: _floats(device, torch.float16, side),
        "bf16": lambda: _floats(device, torch.bfloat16, side),
        "int8": lambda: _integers(device, side),
        "fp8": lambda: _eight_bits(device, side),
        "fp64": lambda: _floats(device, torch.float64, wide_side),
    }
    for name, make in products.items():
        rate = _tflops(device, make, "high" if name == "tf32" else "highest")
        if rate is not None:
            tflops[name] = rate
    return rates


def glance(device: CudaDevice, side: int = SIDE) -> Rates:
    """One rate alone, as in ``measure``, of few products: none of them is short, so that what else the device does shows in each."""
    rate = _tflops(device, lambda: _floats(device, torch.float32, side), "highest", GLANCES)
    return {"tflops": {} if rate is None else {"fp32": rate}}


def _copy_gbs(device: CudaDevice, nbytes: int) -> float:
    """Read plus written."""
    source = torch.zeros(nbytes, dtype=torch.uint8, device=device.torch_device)
    target = torch.empty_like(source)
    return 2 * nbytes / _typical(device, lambda: target.copy_(source)) / 1e6


def _tflops(
    device: CudaDevice, make: Callable[[], tuple[Callable[[], Any], int]], precision: str, repeats: int = REPEATS
) -> float | None:
    """The rate of a product; None where it cannot be done. A device that is full or broken is an error: it says nothing."""
    try:
        with _precision(precision):
            product, length = make()
            return 2 * length**3 / _typical(device, product, repeats) / 1e9
    except RuntimeError as error:
        if faults.of_device(error):
            raise
        return None


def _floats(device: CudaDevice, dtype: torch.dtype, side: int) -> tuple[Callable[[], Any], int]:
    # Random values: a device that draws less power for zeros would show a rate that no real product has.
    a = torch.randn(side, side, device=device.torch_device).to(dtype)
    return lambda: a @ a, side


def _integers(device: CudaDevice, side: int) -> tuple[Callable[[], Any], int]:
    a = torch.randint(-128, 128, (side, side), dtype=torch.int8, device=device.torch_device)
    # Integer tensor cores want the right operand in column order.
    return lambda: torch._int_mm(a, a.t()), side


def _eight_bits(device: CudaDevice, side: int) -> tuple[Callable[[], Any], int]:
    a = torch.randn(side, side, device=device.torch_device).to(torch.float8_e4m3fn)
    one = torch.ones((), device=device.torch_device)
    # As for integers; sums of fewer than 32 bits, which is what the tensor cores can do at best.
    return lambda: torch._scaled_mm(a, a.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=True), side


def _typical(device: CudaDevice, function: Callable[[], Any], repeats: int = REPEATS) -> float:
    function()
    return statistics.median(_times(device, function, repeats))


def _times(device: CudaDevice, function: Callable[[], Any], repeats: int) -> list[float]:
    return [each.ms for each in device.time([Call(function, [], {}, [])] * repeats, LEAD)]


@contextlib.contextmanager
def _precision(name: str) -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(name)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
