"""A session as a conversation: what the adapters for several turns have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kbx.integrations.replies import reply_text
from kbx.sessions import Answer, AsyncSession, Turn

Message = dict[str, str]
Model = Callable[[list[Message]], Awaitable[str]]
"""From a conversation to the next reply."""


def is_over(session: AsyncSession, turn: Turn, stop_when_correct: bool) -> bool:
    """Whether no further turn comes: none is left, or the kernel is right and nothing better is asked for."""
    return session.left.judgements <= 0 or (stop_when_correct and turn.correct is True)


def following(messages: list[Message], reply: str, turn: Turn) -> list[Message]:
    """The conversation with a reply and what the referee says of it."""
    asked = turn.feedback or f"The result is: {turn.status}."
    return [*messages, {"role": "assistant", "content": reply}, {"role": "user", "content": asked}]


async def play(session: AsyncSession, model: Model, *, stop_when_correct: bool = True) -> Answer:
    """Plays a session to its end: the model's reply, feedback, the next reply, and the verdict on held-out inputs."""
    messages = list(session.messages)
    while True:
        reply = await model(messages)
        turn = await session.turn(reply_text(reply))
        if is_over(session, turn, stop_when_correct):
            return await session.final()
        messages = following(messages, reply, turn)
