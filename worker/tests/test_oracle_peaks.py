"""Measuring peaks, with the host in place of a GPU."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kbx.clock import Timed
from kbx.oracle import peaks


class Operations(TorchDispatchMode):
    """Counts what PyTorch is asked to do."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += 1
        return function(*args, **(kwargs or {}))


class HostDevice:
    """What ``peaks`` needs of a ``CudaDevice``. On its clock every operation takes a millisecond, and a call without one a tenth."""

    torch_device = torch.device("cpu")

    def time(self, calls, lead):
        def once(call):
            with Operations() as operations:
                call.function()
            return Timed(operations.count or 0.1, host_bound=False)

        return [once(call) for call in calls]


def measure():
    return peaks.measure(HostDevice(), copy_bytes=1 << 20, side=64, wide_side=32)


def test_all_figures_are_measured():
    rates = measure()
    tflops = rates.pop("tflops")
    assert set(tflops) - {"fp8"} == {"fp32", "tf32", "fp16", "bf16", "int8", "fp64"}
    assert set(rates) == {"copy_gbs", "empty_ms", "launch_ms"}
    assert all(value > 0 for value in (*rates.values(), *tflops.values()))
    assert (rates["empty_ms"], rates["launch_ms"]) == (0.1, 1)


def test_eight_bit_floats_are_measured_where_there_are_products_of_them(monkeypatch):
    asked = []

    def product(a, b, *scales, out_dtype, use_fast_accum):
        asked.append((a.dtype, a.stride(), b.stride(), [scale.dtype for scale in scales]))
        return a.to(out_dtype) @ b.to(out_dtype)

    monkeypatch.setattr(torch, "_scaled_mm", product)
    assert measure()["tflops"]["fp8"] > 0
    assert asked[0] == (torch.float8_e4m3fn, (64, 1), (1, 64), [torch.float32] * 2)

    def refuse(*args, **kwargs):
        raise RuntimeError("not on this device")

    monkeypatch.setattr(torch, "_scaled_mm", refuse)
    assert "fp8" not in measure()["tflops"]


def test_quick_check_measures_one_rate():
    before = torch.get_float32_matmul_precision()
    assert peaks.glance(HostDevice(), side=64)["tflops"].keys() == {"fp32"}
    assert torch.get_float32_matmul_precision() == before


def test_unsupported_product_is_left_out(monkeypatch):
    def refuse(a, b):
        raise RuntimeError("not on this device")

    monkeypatch.setattr(torch, "_int_mm", refuse)
    assert "int8" not in measure()["tflops"]


def test_product_rate_counts_two_operations_per_term(monkeypatch):
    monkeypatch.setattr(HostDevice, "time", lambda self, calls, lead: [Timed(2.0, False)] * len(calls))
    rates = measure()
    assert rates["tflops"]["fp16"] == pytest.approx(2 * 64**3 / 2e-3 / 1e12)
    assert rates["tflops"]["fp64"] == pytest.approx(2 * 32**3 / 2e-3 / 1e12)
    assert rates["copy_gbs"] == pytest.approx(2 * (1 << 20) / 2e-3 / 1e9)


def test_precision_setting_of_products_is_restored():
    torch.set_float32_matmul_precision("highest")
    measure()
    assert torch.get_float32_matmul_precision() == "highest"
