"""Tensors of more than 2^31 elements, of which a runner without a GPU has addresses alone."""

import contextlib
import os
import socket

import pytest
import torch

from kbx.executor import channel as memory
from kbx.executor import server
from kbx.runner import execution, large

HEAP = 1 << 45
SIZE = 1 << 31


@pytest.fixture
def call(monkeypatch):
    """Enters a call on rows ``marked``; ``launched`` says how many kernels it has launched."""
    told, launched = [], []
    monkeypatch.setattr(execution, "repeat", told.extend)

    def enter(*marked):
        return large.repeated(marked, HEAP, lambda: len(launched))

    enter.told, enter.launched = told, launched
    return enter


def test_the_longest_rows_have_more_elements_than_an_int_counts(call):
    x, scale = torch.zeros(7, 1000), torch.zeros(7, dtype=torch.float16)
    with call(x, scale) as ((rows, scales), times):
        assert rows.shape == (7 * times, 1000)
        assert scales.shape == (7 * times,)
        assert rows[:-7].numel() > SIZE > (times - 128) * 7000 - 7000
    assert [(each, like) for each, _, like in call.told] == [
        (rows.data_ptr(), x.data_ptr()),
        (scales.data_ptr(), scale.data_ptr()),
    ]
    assert call.told[0][1] == 28000 * times


def test_tensors_lie_where_the_executor_has_marks_for_them(call):
    with call(torch.zeros(7, 1000)) as ((rows,), _):
        other = torch.empty_like(rows).data_ptr()
        assert rows.data_ptr() - rows.nbytes >= HEAP + memory.SPARSE
        assert other - rows.nbytes >= rows.data_ptr() + rows.nbytes
        assert other + rows.nbytes <= HEAP + memory.SPARSE + memory.MARKS
        with pytest.raises(large.TooLarge, match="addresses"):
            torch.empty(memory.MARKS // 2, dtype=torch.int8)


def test_views_and_empty_tensors_are_made(call):
    with call(torch.zeros(7, 1000)) as ((rows,), _):
        for made in (
            rows.view(-1),
            rows.contiguous().t(),
            rows[5:],
            torch.empty_like(rows),
            rows.new_empty(rows.shape),
        ):
            assert large.holds(made.data_ptr())
        assert torch.empty_strided((SIZE, 1), (1, SIZE)).stride() == (1, SIZE)
        assert torch.empty(3).fill_(2).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    "operation",
    [
        torch.clone,
        torch.sum,
        torch.zeros_like,
        lambda x: x + 1,
        lambda x: x.half(),
        lambda x: x[-1].tolist(),
        lambda x: torch.ones(SIZE),
        lambda x: torch.empty_like(x).zero_(),
    ],
)
def test_operations_that_touch_them_are_refused(call, operation):
    with call(torch.zeros(7, 1000)) as ((rows,), _), pytest.raises(large.TooLarge):
        operation(rows)


def test_what_kernels_have_left_out_is_not_read(call):
    with call(torch.zeros(7, 1000)):
        sums = torch.zeros(5)
        assert float(sums.sum()) == 0
        call.launched.append("some programs")
        assert sums.view(1, 5).shape == (1, 5)
        for read in (torch.sum, lambda x: x[0].item(), torch.Tensor.tolist, torch.Tensor.numpy, lambda x: x / 2):
            with pytest.raises(large.TooLarge, match="after a launch"):
                read(sums)


def test_other_calls_are_as_always(call):
    with call(torch.zeros(7, 1000)):
        pass
    assert torch.empty(100).fill_(1).sum() == 100


def test_the_last_rows_of_a_result_are_asked_for(call, monkeypatch):
    asked = []

    def final(place):
        asked.append(place)
        return bytearray(torch.arange(place[3] // 4, dtype=torch.float32).numpy().tobytes())

    monkeypatch.setattr(execution, "final", final)
    with call(torch.zeros(7, 1000)) as ((rows,), _):
        result = torch.empty(rows.shape[0], 2000)[:, :1000]
        found = large.final(result[-2:])
    assert asked == [[result.data_ptr(), 8000 * rows.shape[0], 8000 * (rows.shape[0] - 2), 12000]]
    assert found[:, :2].tolist() == [[0, 1], [2000, 2001]]


def test_a_result_of_another_shape_is_not_read_whole(call):
    with call(torch.zeros(7, 1000)) as ((rows,), _), pytest.raises(large.TooLarge):
        large.final(rows)


@contextlib.contextmanager
def executor(repeated):
    """The runner's end of an executor that the oracle has prepared for a call."""
    theirs, ours = zip(*(socket.socketpair() for _ in range(3)), strict=True)
    child = os.fork()
    if not child:
        try:
            for end in ours:
                end.close()
            server.serve(*theirs, None)
        finally:
            os._exit(0)
    try:
        for end in theirs:
            end.close()
        runner, lends = map(memory.Channel, ours[:2])
        lends.connection.sendall(b"[]")  # no arenas
        runner.send({"attach": {}})
        runner.receive()
        lends.send({"prepare": 1, "lent": [], "order": "ascending", "forget": False, "repeated": repeated})
        lends.send({"findings": True})
        lends.receive()  # so the call is prepared
        yield runner
    finally:
        for end in ours:
            end.close()
        os.waitpid(child, 0)


def test_a_call_that_the_oracle_has_lent_rows_for_is_a_large_one():
    with executor(repeated=True) as runner:
        runner.send({"repeat": []})
        assert runner.receive()[0] == {"repeated": True}


def test_no_candidate_has_programs_and_races_left_out_in_another_call():
    with executor(repeated=False) as runner:
        runner.send({"repeat": []})
        with pytest.raises(memory.Broken):
            runner.receive()
