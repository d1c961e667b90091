"""Server-sent events of a run: their form, and going on after a lost connection."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

from kbx.errors import ProtocolError
from kbx.exchanges import Lost, Outcome, Request, Retries
from kbx.models import Event

# A carriage return at the end may be half of a line end.
_LINE_END = re.compile(rb"\r\n|\n|\r(?=[^\n])")


class EventParser:
    """Turns the bytes of a stream, however they are cut, into events.

    The lines of ``httpx`` would end at every character that Unicode calls a line end; JSON may hold such.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._kind = ""
        self._data: list[str] = []
        self._id: str | None = None

    def feed(self, data: bytes) -> list[Event]:
        """The events that are complete with ``data``."""
        *lines, self._rest = _LINE_END.split(self._rest + data)
        events = [self._line(line.decode(errors="replace")) for line in lines]
        return [event for event in events if event is not None]

    def _line(self, line: str) -> Event | None:
        if not line:
            return self._end()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._kind = value
        elif name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value
        return None

    def _end(self) -> Event | None:
        kind, data = self._kind or "message", "\n".join(self._data)
        self._kind, self._data = "", []
        if not data:
            return None
        try:
            content = json.loads(data)
        except ValueError as error:
            raise ProtocolError(f"event {kind}: its data is not JSON ({error})") from error
        if not isinstance(content, dict):
            raise ProtocolError(f"event {kind}: its data is not a JSON object")
        return Event(kind, self._id, content)


class Following:
    """Follows a run's events over as many connections as it takes."""

    def __init__(self, run: str, after: str | None, retries: Retries) -> None:
        self.request = Request("GET", f"/v1/runs/{quote(run, safe='')}/events")
        self._after = after
        self._retries = retries
        self._parser = EventParser()
        self._restart()

    def headers(self) -> dict[str, str]:
        """Headers of the next connection, which begins after the last event that was received."""
        self._parser = EventParser()
        return {"accept": "text/event-stream", **({"last-event-id": self._after} if self._after else {})}

    def received(self, data: bytes) -> list[Event]:
        events = self._parser.feed(data)
        for event in events:
            self._after = event.id or self._after
        if events:
            self._retries.met()
            self._restart()
        return events

    def pause(self, outcome: Outcome | None) -> float:
        """Seconds until the next connection, after the last one ended so; None: without an error."""
        pause = self._retries.next_pause(
            self.request, outcome or Lost("the stream ended"), self._attempt, self._gives_up
        )
        self._attempt += 1
        return pause

    def _restart(self) -> None:
        self._attempt = 0
        self._gives_up = self._retries.give_up_at()
