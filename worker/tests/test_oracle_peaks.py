"""Measuring peaks, with the host in place of a GPU."""

import time

import pytest
import torch

from kbx.clock import Timed
from kbx.oracle import peaks


class HostDevice:
    """What ``peaks`` needs of a ``CudaDevice``."""

    torch_device = torch.device("cpu")

    def time(self, calls, lead):
        def once(call):
            start = time.perf_counter()
            call.function()
            return Timed(1e3 * (time.perf_counter() - start), host_bound=False)

        return [once(call) for call in calls]


def measure():
    return peaks.measure(HostDevice(), copy_bytes=1 << 20, side=64, wide_side=32)


def test_every_figure_is_there():
    rates = measure()
    tflops = rates.pop("tflops")
    assert set(tflops) == {"fp32", "tf32", "fp16", "bf16", "int8", "fp64"}
    assert set(rates) == {"copy_gbs", "empty_ms", "launch_ms"}
    assert all(value > 0 for value in (*rates.values(), *tflops.values()))
    assert rates["empty_ms"] < rates["launch_ms"]


def test_a_glance_is_one_rate():
    before = torch.get_float32_matmul_precision()
    assert peaks.glance(HostDevice(), side=64)["tflops"].keys() == {"fp32"}
    assert torch.get_float32_matmul_precision() == before


def test_a_product_that_cannot_be_done_is_left_out(monkeypatch):
    def refuse(a, b):
        raise RuntimeError("not on this device")

    monkeypatch.setattr(torch, "_int_mm", refuse)
    assert "int8" not in measure()["tflops"]


def test_a_rate_is_two_operations_a_term(monkeypatch):
    monkeypatch.setattr(HostDevice, "time", lambda self, calls, lead: [Timed(2.0, False)] * len(calls))
    rates = measure()
    assert rates["tflops"]["fp16"] == pytest.approx(2 * 64**3 / 2e-3 / 1e12)
    assert rates["tflops"]["fp64"] == pytest.approx(2 * 32**3 / 2e-3 / 1e12)
    assert rates["copy_gbs"] == pytest.approx(2 * (1 << 20) / 2e-3 / 1e9)


def test_the_precision_of_products_is_as_before():
    torch.set_float32_matmul_precision("highest")
    measure()
    assert torch.get_float32_matmul_precision() == "highest"
