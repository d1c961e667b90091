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


def test_the_context_as_a_whole_waits_and_is_waited_for(monkeypatch):
    driver = Driver()
    made = context(monkeypatch, driver)
    made.wait(EVENT)
    made.record(EVENT)
    assert made.lacks is None
    assert driver.log == [("cuCtxWaitEvent", CONTEXT, 0x5678), ("cuCtxRecordEvent", CONTEXT, 0x5678)]


@pytest.mark.parametrize("function", ["cuCtxWaitEvent", "cuCtxRecordEvent"])
def test_an_older_driver_is_named(monkeypatch, function):
    assert (
        context(monkeypatch, Driver(lacks=[function])).lacks == "timing needs version 555 or newer of NVIDIA's driver"
    )


def test_a_call_that_leaves_a_stream_in_recording_fails_by_name(monkeypatch):
    made = context(monkeypatch, Driver(cuCtxRecordEvent=900))
    with pytest.raises(RuntimeError, match="cuCtxRecordEvent: a CUDA graph is still being recorded on a stream"):
        made.record(EVENT)


def test_other_failures_are_worded_as_torch_words_them(monkeypatch):
    made = context(monkeypatch, Driver(cuCtxWaitEvent=700))
    with pytest.raises(RuntimeError) as caught:
        made.wait(EVENT)
    assert str(caught.value) == "CUDA driver error: an illegal memory access was encountered (cuCtxWaitEvent, 700)"
    assert faults.of_device(caught.value)


def test_nothing_that_a_candidate_assigns_to_ctypes_is_asked(monkeypatch):
    driver = Driver()
    made = context(monkeypatch, driver)
    monkeypatch.setattr(ctypes, "c_void_p", lambda value: 0xBAD)
    made.wait(EVENT)
    assert driver.log == [("cuCtxWaitEvent", CONTEXT, 0x5678)]


def test_a_device_that_pins_nothing_is_no_failure(monkeypatch):
    driver = Driver(cuCtxResetPersistingL2Cache=801)
    context(monkeypatch, driver).forget()
    assert driver.log == [("cuCtxResetPersistingL2Cache",)]
