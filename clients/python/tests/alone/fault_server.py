"""A small server of the contract with faults on demand: what a real server cannot be made to do."""

from __future__ import annotations

import json
import socket
import threading
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Fault = Callable[["_Handler"], bool]
"""Returns whether the request is served nevertheless."""


def busy(status: int, retry_after: str | None = "0") -> Fault:
    def fault(handler: _Handler) -> bool:
        headers = {} if retry_after is None else {"Retry-After": retry_after}
        handler.answer(status, {"title": "busy", "detail": "the queue is full"}, headers)
        return False

    return fault


def drop(handler: _Handler) -> bool:
    """Closes the connection before anything was done."""
    handler.hang_up()
    return False


def lose_answer(handler: _Handler) -> bool:
    """Serves the request and closes the connection instead of answering."""
    handler.mute = True
    return True


def say(body: bytes, status: int = 200) -> Fault:
    def fault(handler: _Handler) -> bool:
        handler.send(status, body, {})
        return False

    return fault


class FaultServer:
    """Judges at once, or after so many polls. ``verdicts``: by source, what a verdict has besides the usual."""

    def __init__(self) -> None:
        self.faults: deque[Fault | None] = deque()
        self.verdicts: dict[str, dict[str, Any]] = {}
        self.states: dict[str, str] = {}
        self.polls_until_done = 0
        self.cost: dict[str, float] = {"judgements": 1}
        """What a turn takes of a session's budget."""
        self.judged: list[str] = []
        self.requests: list[tuple[str, str, dict[str, list[str]], Any]] = []
        self.headers: list[dict[str, str]] = []
        self.streams: deque[bytes] = deque()
        self._by_key: dict[str, dict[str, Any]] = {}
        self._by_id: dict[str, dict[str, Any]] = {}
        self._sessions: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.kbx = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def serve(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any]:
        with self._lock:
            self.requests.append((method, path, query, body))
            if path.startswith("/v1/sessions"):
                return self._session(method, path.split("/")[3:], body)
            if path.startswith("/v1/tasks"):
                return self._tasks(path)
            if (method, path) == ("POST", "/v1/judgements"):
                return self._answer([self._accept(candidate) for candidate in body["candidates"]])
            if (method, path) == ("GET", "/v1/judgements"):
                return self._answer([self._poll(identity) for identity in query["ids"][0].split(",")])
            return self._one(method, path.removeprefix("/v1/judgements/"))

    def _accept(self, candidate: dict[str, Any]) -> dict[str, Any]:
        known = self._by_key.get(candidate["key"])
        if known is not None:
            return known
        code = candidate["code"]
        self.judged.append(code)
        judgement = {"id": f"j_{len(self._by_id)}", "state": "queued", "task": candidate["task"], "polls": 0}
        judgement["code"] = code
        self._by_key[candidate["key"]] = self._by_id[judgement["id"]] = judgement
        if self.polls_until_done == 0:
            self.finish(judgement)
        return judgement

    def _poll(self, identity: str) -> dict[str, Any]:
        judgement = self._by_id[identity]
        judgement["polls"] += 1
        if judgement["state"] == "queued" and judgement["polls"] >= self.polls_until_done:
            self.finish(judgement)
        return judgement

    def finish(self, judgement: dict[str, Any]) -> None:
        code = judgement["code"]
        judgement["state"] = self.states.get(code, "done")
        if judgement["state"] == "done":
            usual = {"status": "correct", "stage": "correct", "task": judgement["task"], "message": code}
            judgement["verdict"] = {**usual, "call_ok": True, "exe_ok": True, **self.verdicts.get(code, {})}

    def _session(self, method: str, path: list[str], body: Any) -> tuple[int, Any]:
        if not path:
            known = [each for each in self._sessions.values() if each["key"] == body["key"]]
            session = known[0] if known else {"id": f"s_{len(self._sessions)}", "key": body["key"], "state": "open"}
            prompt = [{"role": "user", "content": f"Write {body['task']} please"}]
            usual = {"run": "r", "task": body["task"], "messages": prompt, "turns": [], "left": self._left(body)}
            self._sessions[session["id"]] = session = {**usual, **session}
            return 201, session
        session = self._sessions[path[0]]
        if method == "DELETE":
            session["state"] = "closed"
        if path[1:] == ["turns"]:
            return self._turn(session, body)
        if path[1:] == ["final"]:
            if session["state"] == "closed":
                return 409, {"detail": "the session was ended without an answer"}
            best = max(session["turns"], key=lambda turn: turn.get("reward", -1.0), default=None)
            turn = body.get("turn", best["number"] if best else None)
            session["state"] = "answered"
            verdict, reward = session["turns"][turn]["verdict"], session["turns"][turn]["reward"] + 0.1
            session["final"] = {"turn": turn, "why": "best", "state": "done", "reward": reward, "verdict": verdict}
            return 200, session["final"]
        return 200, session

    def _left(self, body: Any) -> dict[str, Any]:
        return {"judgements": 10, "wall_seconds": 86400.0, **body.get("budget", {})}

    def _turn(self, session: dict[str, Any], body: Any) -> tuple[int, Any]:
        turn = next((each for each in session["turns"] if each["key"] == body["key"]), None)
        if turn is None:
            if session["state"] != "open" or min(session["left"].values()) <= 0:
                return 409, {"detail": "the budget is spent" if session["state"] == "open" else "the session is over"}
            for limit, cost in self.cost.items():
                session["left"][limit] -= cost
            turn = {
                "number": len(session["turns"]),
                "judgement": f"j_{len(self.judged)}",
                "key": body["key"],
                "polls": 0,
            }
            turn |= {"code": body["code"], "task": session["task"], "state": "judging"}
            self.judged.append(body["code"])
            session["turns"].append(turn)
        turn["polls"] += 1
        if turn["state"] == "judging" and turn["polls"] > self.polls_until_done:
            self.finish(turn)
            verdict = turn.get("verdict", {})
            right = verdict.get("status") == "correct"
            turn |= {"feedback": f"It is {verdict.get('status')}.", "left": dict(session["left"])}
            turn |= {"status": verdict.get("status", ""), "correct": right}
            if verdict and verdict["status"] != "infrastructure":
                turn["reward"] = 0.4 if right else 0.15
        return (202 if turn["state"] == "judging" else 200), turn

    def _answer(self, judgements: list[dict[str, Any]]) -> tuple[int, Any]:
        done = all(judgement["state"] not in ("queued", "judging") for judgement in judgements)
        return (200 if done else 202), {"judgements": judgements, "run": "r"}

    def _tasks(self, path: str) -> tuple[int, Any]:
        if path.endswith("/prompt"):
            return 200, {"prompt": f"Write {path.split('/')[-2]} please"}
        names = ["Activation/gelu", "Activation/relu", "Math/softmax", "Reduce/sum"]
        tasks = [dict(zip(("category", "name"), name.split("/"), strict=True)) for name in names]
        return 200, {"tasks": [{"suite": "kernelbenchx", **task} for task in tasks]}

    def _one(self, method: str, identity: str) -> tuple[int, Any]:
        judgement = self._by_id.get(identity)
        if judgement is None:
            return 404, {"detail": f"no judgement {identity}"}
        if method == "GET":
            return 200, self._poll(identity)
        if judgement["state"] != "queued":
            return 409, {"detail": f"{identity} is {judgement['state']}"}
        judgement["state"] = "cancelled"
        return 200, judgement


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    kbx: FaultServer


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    mute = False

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_DELETE = do_GET  # noqa: N815

    def _serve(self) -> None:
        server = self.server.kbx
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        server.headers.append({name.lower(): value for name, value in self.headers.items()})
        fault = server.faults.popleft() if server.faults else None
        if fault is not None and not fault(self):
            return
        address = urlsplit(self.path)
        if address.path.endswith("/events"):
            self._stream(server.streams.popleft())
            return
        body = json.loads(text) if text else None
        self.answer(*server.serve(self.command, address.path, parse_qs(address.query), body), {})

    def answer(self, status: int, content: Any, headers: dict[str, str]) -> None:
        self.send(status, json.dumps(content).encode(), headers)

    def send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        if self.mute:
            self.hang_up()
            return
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _stream(self, data: bytes) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass
