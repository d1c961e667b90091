"""What the clock asks of the driver, and what it says where the driver cannot do it."""

import ctypes
import types

import pytest

from kbx.context import Context
from kbx.oracle import faults

CONTEXT, EVENT = 0x1234, types.SimpleNamespace(cuda_event=0x5678)


class Driver:
    """Stands in for libcuda: ``codes`` by function are what it answers, 0 where nothing is said."""

    def __init__(self, lacks=(), **codes):
        self.log, self.codes = [], codes
        self.texts = {700: b"an illegal memory access was encountered"}
        for name in {"cuCtxWaitEvent", "cuCtxRecordEvent", "cuCtxResetPersistingL2Cache"} - set(lacks):
            setattr(self, name, self._function(name))

    def cuCtxGetCurrent(self, context):
        context._obj.value = CONTEXT
        return 0

    def cuGetErrorString(self, code, text):
        text._obj.value = self.texts.get(code)

    def _function(self, name):
        def call(*arguments):
            self.log.append((name, *(getattr(argument, "value", argument) for argument in arguments)))
            return self.codes.get(name, 0)

        return call


def context(monkeypatch, driver):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: driver)
    return Context()


def test_context_events_cover_all_streams(monkeypatch):
    driver = Driver()
    made = context(monkeypatch, driver)
    made.wait(EVENT)
    made.record(EVENT)
    assert made.lacks is None
    assert driver.log == [("cuCtxWaitEvent", CONTEXT, 0x5678), ("cuCtxRecordEvent", CONTEXT, 0x5678)]


@pytest.mark.parametrize("function", ["cuCtxWaitEvent", "cuCtxRecordEvent"])
def test_old_driver_is_named(monkeypatch, function):
    assert (
        context(monkeypatch, Driver(lacks=[function])).lacks == "timing needs version 555 or newer of NVIDIA's driver"
    )


def test_a_call_that_leaves_a_stream_in_recording_fails_by_name(monkeypatch):
    made = context(monkeypatch, Driver(cuCtxRecordEvent=900))
    with pytest.raises(RuntimeError, match="cuCtxRecordEvent: a CUDA graph is still being recorded on a stream"):
        made.record(EVENT)


def test_other_failures_have_the_text_of_torch(monkeypatch):
    made = context(monkeypatch, Driver(cuCtxWaitEvent=700))
    with pytest.raises(RuntimeError) as caught:
        made.wait(EVENT)
    assert str(caught.value) == "CUDA driver error: an illegal memory access was encountered (cuCtxWaitEvent, 700)"
    assert faults.of_device(caught.value)


def test_replaced_ctypes_attributes_are_not_used(monkeypatch):
    driver = Driver()
    made = context(monkeypatch, driver)
    monkeypatch.setattr(ctypes, "c_void_p", lambda value: 0xBAD)
    made.wait(EVENT)
    assert driver.log == [("cuCtxWaitEvent", CONTEXT, 0x5678)]


def test_device_without_pinned_memory_is_accepted(monkeypatch):
    driver = Driver(cuCtxResetPersistingL2Cache=801)
    context(monkeypatch, driver).forget()
    assert driver.log == [("cuCtxResetPersistingL2Cache",)]
