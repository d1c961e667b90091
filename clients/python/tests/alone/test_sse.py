from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kbx
from kbx.sse import EventParser


@given(st.lists(st.text()), st.sampled_from(["\n", "\r\n", "\r"]), st.lists(st.integers(1, 40)))
def test_events_split_at_any_byte_are_read(texts: list[str], end: str, cuts: list[int]) -> None:
    events = [f"id: {i}{end}event: verdict{end}data: {json.dumps({'t': text}, ensure_ascii=False)}{end}{end}"
              for i, text in enumerate(texts)]  # fmt: skip
    data = ("".join(events) + ": nothing" + end + "x").encode(errors="replace")
    parser, found = EventParser(), []
    for cut in cuts:
        found += parser.feed(data[:cut])
        data = data[cut:]
    found += parser.feed(data)

    wanted = [text.encode(errors="replace").decode() for text in texts]
    assert [(event.kind, event.id, event.data["t"]) for event in found] == [
        ("verdict", str(i), text) for i, text in enumerate(wanted)
    ]


def test_data_of_several_lines_is_joined() -> None:
    (event,) = EventParser().feed(b'data: {"a":\ndata:  1}\n\n')
    assert (event.kind, event.data) == ("message", {"a": 1})


@pytest.mark.parametrize("data", [b"data: oops\n\n", b"data: [1]\n\n"])
def test_unknown_event_data_is_reported(data: bytes) -> None:
    with pytest.raises(kbx.ProtocolError):
        EventParser().feed(data)
