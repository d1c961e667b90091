"""What can go wrong, by who has to act. Every error is a ``KbxError`` with a message of one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbx.models import Judgement


class KbxError(Exception):
    """Base class of all errors of this package."""


class Unavailable(KbxError):
    """The server could not be reached, or was too busy, for longer than the client's patience."""


class ProtocolError(KbxError):
    """The answer is not one of kbx's: another server, a broken proxy, or a version too new for this client."""


class WaitTimeout(KbxError):
    """The time that the caller would wait has passed; the server goes on judging.

    ``ids`` are the judgements that were not done; ``get`` and ``cancel`` take them.
    """

    def __init__(self, message: str, ids: list[str]) -> None:
        super().__init__(message)
        self.ids = ids


class Refused(KbxError):
    """The server refused the request; sent again unchanged it is refused again.

    ``status`` is the HTTP status, ``detail`` the server's reason, ``pointer`` the part of the request it is
    about (``/candidates/3/task``), if it names one.
    """

    def __init__(self, status: int, detail: str, pointer: str | None = None) -> None:
        where = f" ({pointer})" if pointer else ""
        super().__init__(f"refused with {status}: {detail}{where}")
        self.status = status
        self.detail = detail
        self.pointer = pointer


class Unauthorized(Refused):
    """The token is missing, unknown or revoked."""


class Forbidden(Refused):
    """The token lacks the scope, or the judgement belongs to another client."""


class NotFound(Refused):
    """There is no such judgement, run, task or suite."""


class Conflict(Refused):
    """What was asked for is no longer possible, such as cancelling a judgement that is done."""


class Invalid(Refused):
    """The request is malformed, too large, or names a task that there is not."""


class ServerFault(KbxError):
    """The server failed while it answered (status 500)."""


class NoVerdict(KbxError):
    """There is no verdict on the candidate, and so no reward either: never take it for a failure of the candidate.

    ``judgement`` is what the server says about it; None where a verdict was given without one.
    """

    def __init__(self, message: str, judgement: Judgement | None = None) -> None:
        super().__init__(message)
        self.judgement = judgement


class JudgementFailed(NoVerdict):
    """The service could not judge the candidate."""


class Infrastructure(NoVerdict):
    """The judge or its machine failed, or lacks a feature that the candidate needs."""


class InvalidTask(NoVerdict):
    """The task file is wrong."""


class Expired(NoVerdict):
    """The deadline passed while the candidate was queued."""


class Cancelled(NoVerdict):
    """The judgement was cancelled."""


_BY_STATUS: dict[int, type[Refused]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: Invalid,
    415: Invalid,
    422: Invalid,
}


def refused(status: int, detail: str, pointer: str | None) -> Refused:
    """The error for a status between 400 and 499."""
    return _BY_STATUS.get(status, Refused)(status, detail, pointer)
