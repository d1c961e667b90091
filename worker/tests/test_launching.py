"""Launches by the driver alone, here by one that only notes what it is asked. On a GPU ``bench/serving.py`` and every judgement make them."""

import ctypes
import json
import math

import pytest
import torch

from kbx.executor import launching

METADATA = {
    "name": "kernel",
    "num_warps": 4,
    "num_ctas": 1,
    "shared": 1024,
    "cluster_dims": [1, 1, 1],
    "launch_cooperative_grid": False,
}
TYPES = ["*fp32", "i32", ["fp16", ["bf16"]], "constexpr"]


@pytest.mark.parametrize(
    ("kind", "value", "dtype"),
    [
        ("i1", True, torch.bool), ("i8", -3, torch.int8), ("u8", 200, torch.uint8), ("i16", -300, torch.int16), ("i32", -70000, torch.int32),
        ("i64", -(1 << 40), torch.int64), ("fp16", 1.5, torch.float16), ("bf16", -2.5, torch.bfloat16), ("fp32", 0.1, torch.float32),
        ("fp64", 0.1, torch.float64),
    ],
)  # fmt: skip
def test_parameters_have_the_bits_of_their_types(kind, value, dtype):
    assert launching.packed(kind, value) == bytes(torch.tensor([value], dtype=dtype).view(torch.uint8).tolist())


@pytest.mark.parametrize("kind", ["fp32", "f32", "bf16"])
@pytest.mark.parametrize(
    ("value", "held"), [(1e39, math.inf), (-1e300, -math.inf), (math.inf, math.inf), (math.nan, math.nan)]
)
def test_fractions_too_large_are_infinite(kind, value, held):
    """As Triton has them: a mask may be the smallest number of double precision."""
    dtype = torch.bfloat16 if kind == "bf16" else torch.float32
    made = torch.frombuffer(bytearray(launching.packed(kind, value)), dtype=dtype)
    assert torch.equal(made.isnan(), torch.tensor([math.isnan(held)])) and (math.isnan(held) or made.item() == held)


def test_bfloat16_is_cut_off():
    assert launching.packed("bf16", 1.0 + 2**-8 + 2**-9) == launching.packed("bf16", 1.0)


@pytest.mark.parametrize(
    ("changed", "types"),
    [
        ({"num_ctas": 2}, TYPES), ({"cluster_dims": [2, 1, 1]}, TYPES), ({"launch_cooperative_grid": True}, TYPES),
        ({"global_scratch_size": 128}, TYPES), ({"profile_scratch_size": 64}, TYPES), ({}, ["tensordesc<fp16[64, 64]>"]),
    ],
)  # fmt: skip
def test_other_launches_are_left_to_triton(changed, types):
    assert launching.is_plain(METADATA, TYPES)
    assert not launching.is_plain(METADATA | changed, types)


class Driver:
    """Notes calls; of a launch the parameters' first bytes."""

    def __init__(self, fails=None):
        self.calls, self._fails = [], fails

    def __getattr__(self, name):
        def call(*arguments):
            if name == "cuGetErrorString":
                arguments[1]._obj.value = b"invalid image"
                return 0
            if name == "cuLaunchKernel":
                pointers = arguments[9]
                arguments = (
                    *arguments[1:8],
                    [ctypes.string_at(pointers[i], n) for i, n in enumerate((8, 4, 2, 2, 8, 8))],
                )
            self.calls.append((name, arguments))
            return int(name == self._fails)

        return call


def loaded(monkeypatch, driver, **changed):
    monkeypatch.setattr(launching, "_driver", lambda: driver)
    return launching.Kernel({"kernel.json": json.dumps(METADATA | changed).encode(), "kernel.cubin": b"\x7fELF\0"})


def test_launch_gives_every_parameter_and_no_scratch(monkeypatch):
    driver = Driver()
    kernel = loaded(monkeypatch, driver)
    values = zip(launching.flat(TYPES), (1 << 40, -5, 0.5, 2.0), strict=True)
    parameters = [launching.packed(*each) for each in values]
    kernel.launch([7, 2, 1], 0, parameters)
    kernel.unload()
    names = [name for name, _ in driver.calls]
    assert names == ["cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel", "cuModuleUnload"]
    assert driver.calls[2][1] == (7, 2, 1, 128, 1, 1, 1024, [*parameters, bytes(8), bytes(8)])


def test_much_shared_memory_is_asked_for(monkeypatch):
    driver = Driver()
    loaded(monkeypatch, driver, shared=100 << 10)
    assert driver.calls[-1][0] == "cuFuncSetAttribute"
    assert driver.calls[-1][1][1:] == (8, 100 << 10)


@pytest.mark.parametrize(("name", "unloaded"), [("cuModuleLoadData", False), ("cuModuleGetFunction", True)])
def test_what_the_driver_refuses_is_said_and_nothing_stays(monkeypatch, name, unloaded):
    driver = Driver(name)
    with pytest.raises(RuntimeError, match=f"{name}: invalid image"):
        loaded(monkeypatch, driver)
    assert (driver.calls[-1][0] == "cuModuleUnload") is unloaded
