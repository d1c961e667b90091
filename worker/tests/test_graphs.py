"""What recording leaves behind when it fails; the graphs themselves need a GPU (``bench/launch.sh``)."""

import itertools
import types

import pytest
import torch

from kbx import graphs

HOME, ASIDE = (0, 0, 1), (7, 0, 1)


class Driver:
    """Stands for torch's C types: notes what is asked of it. ``waits`` says whether the function would wait for the device."""

    def __init__(self, monkeypatch, waits=False):
        self.stream, self.recording, self.open_pools, self.waits, self.ended_well = HOME, None, set(), waits, 0
        driver = self

        class Graph:
            def capture_begin(self, pool, capture_error_mode):
                assert driver.stream == ASIDE, "the default stream cannot be recorded"
                assert driver.recording is None
                driver.recording, self.pool = self, pool
                driver.open_pools.add(pool)

            def capture_end(self):
                if driver.recording is not self:
                    raise RuntimeError("nothing is recorded")
                driver.recording = None
                if driver.waits:
                    driver.waits = False
                    raise RuntimeError("operation failed due to a previous error during capture")
                driver.open_pools.discard(self.pool)
                driver.ended_well += 1

            def replay(self):
                pass

        def close_pool(index, pool):
            if pool not in self.open_pools:
                raise RuntimeError("no such pool")
            self.open_pools.discard(pool)

        stream = types.SimpleNamespace(stream_id=ASIDE[0], device_index=ASIDE[1], device_type=ASIDE[2])
        pools = itertools.count()
        monkeypatch.setattr(graphs, "_Graph", Graph)
        monkeypatch.setattr(graphs, "_Stream", lambda priority: stream)
        monkeypatch.setattr(graphs, "_current", lambda index: self.stream)
        monkeypatch.setattr(graphs, "_set_current", lambda *stream: setattr(self, "stream", stream))
        monkeypatch.setattr(graphs, "_new_pool", lambda: (0, next(pools)))
        monkeypatch.setattr(graphs, "_close_pool", close_pool)
        self.recorder = graphs.Recorder(torch.device("cuda", 0))


def test_a_recorded_call_returns_its_result_again(monkeypatch):
    driver = Driver(monkeypatch)
    recorded = driver.recorder.record(lambda a, b: [a + b], 1, b=2)
    assert recorded() == [3]
    assert recorded() is recorded()
    assert (driver.stream, driver.recording, driver.open_pools) == (HOME, None, set())


def test_a_failed_recording_leaves_nothing_open(monkeypatch):
    driver = Driver(monkeypatch, waits=True)
    with pytest.raises(RuntimeError, match="previous error"):
        driver.recorder.record(lambda: None)
    assert (driver.stream, driver.recording, driver.open_pools) == (HOME, None, set())
    assert driver.ended_well == 1, "torch's generators believe that they are recorded until a recording ends well"


def test_exceptions_of_the_function_are_raised(monkeypatch):
    driver = Driver(monkeypatch)
    with pytest.raises(ZeroDivisionError):
        driver.recorder.record(lambda: 1 / 0)
    assert (driver.stream, driver.recording, driver.open_pools) == (HOME, None, set())
    assert driver.ended_well == 2
