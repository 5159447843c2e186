"""What a conversation has kept, as one value: written down here, read again on whatever machine."""

from typing import Any

import msgspec

from prowess.errors import ConfigError

DEFERRING = ("anthropic", "responses")
"""Formats in which a tool can be in the request and not in the prompt."""


class ShownTool(msgspec.Struct):
    """A tool that this conversation has shown, word for word, so that it stays the same text."""

    id: str
    definition: dict[str, Any]
    offer: str = ""
    """The last offer or search that showed it."""
    tokens: int = 0
    used: int = 0
    """The turn of its last call; 0 where there was none."""


class ConversationState(msgspec.Struct, forbid_unknown_fields=True):
    """Everything a conversation is, as one value: what `Conversation.dump` writes."""

    agent: str
    format: str = ""
    budget: int = 0
    turns: int = 0
    epoch: int = 1
    instructions: str = ""
    defers: bool = False
    """Whether everything that is allowed is in the list, most of it deferred."""
    at_once: list[str] = []
    """The tools that are not deferred, where it defers."""
    shown: dict[str, ShownTool] = {}
    whole: bool = False
    """Whether everything is shown, because that costs less than searching."""
    key: str = ""
    """What the last turn was named by its caller."""
    offer: str = ""
    """The id of its offer."""
    id: str = ""
    """Names the conversation, wherever it goes on."""


def begun(agent: str, format: str, budget: int, defer: bool | None) -> ConversationState:
    """A conversation in which nothing was said yet."""
    defers = format in DEFERRING if defer is None else defer
    return ConversationState(agent=agent, format=format, budget=budget, defers=defers)


def resumed(text: str) -> ConversationState:
    """What `Conversation.dump` wrote, on whatever machine."""
    try:
        return msgspec.json.decode(text, type=ConversationState)
    except (msgspec.DecodeError, msgspec.ValidationError) as failure:
        remedy = "give what Conversation.dump() returned"
        raise ConfigError("conversation", f"cannot be resumed: {failure}", remedy) from None
