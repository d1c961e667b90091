"""What a model answered, in the forms that training libraries hold it in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Reply = str | Sequence[Mapping[str, Any]]
"""Plain text, or messages of a conversation."""


def reply_text(reply: Reply) -> str:
    """The text of a reply; of a conversation, that of the last message of the assistant. Empty if there is none."""
    if isinstance(reply, str):
        return reply
    for message in reversed(reply):
        if message.get("role") == "assistant":
            return _content(message.get("content"))
    return ""


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))
