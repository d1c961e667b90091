"""A session as a conversation: what the adapters for several turns have in common."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from kbx.errors import Conflict, Unavailable
from kbx.integrations.replies import reply_text
from kbx.sessions import Answer, AsyncSession, Turn

Message = dict[str, str]
Model = Callable[[list[Message]], Awaitable[str]]
"""From a conversation to the next reply."""


def is_over(session: AsyncSession, turn: Turn, stop_when_correct: bool) -> bool:
    """Whether no further turn comes: none is left, or the kernel is right and nothing better is asked for."""
    return session.left.spent or (stop_when_correct and turn.correct is True)


async def taken(session: AsyncSession, code: str) -> Turn | None:
    """The next turn; None if the server takes none, as where time ran out while the model wrote."""
    try:
        return await session.turn(code)
    except Conflict:
        return None


@asynccontextmanager
async def ended_on_error(sessions: Sequence[AsyncSession]) -> AsyncIterator[None]:
    """Ends sessions that an error leaves without an answer, unless the server is away."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Unavailable):
            await asyncio.gather(*(session.close() for session in sessions), return_exceptions=True)
        raise


def following(messages: list[Message], reply: str, turn: Turn) -> list[Message]:
    """The conversation with a reply and what the referee says of it."""
    asked = turn.feedback or f"The result is: {turn.status}."
    return [*messages, {"role": "assistant", "content": reply}, {"role": "user", "content": asked}]


async def play(session: AsyncSession, model: Model, *, stop_when_correct: bool = True) -> Answer:
    """Plays a session to its end: the model's reply, feedback, the next reply, and the verdict on held-out inputs.

    An error ends the session, so that it does not count as open.
    """
    messages = list(session.messages)
    async with ended_on_error([session]):
        while True:
            reply = await model(messages)
            turn = await taken(session, reply_text(reply))
            if turn is None or is_over(session, turn, stop_when_correct):
                return await session.final()
            messages = following(messages, reply, turn)
