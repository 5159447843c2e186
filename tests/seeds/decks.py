"""Cards, turns and files for the tests of what is asked of cards."""

from collections.abc import Callable
from typing import Any

from prowess.cards.injection import BootstrapFile
from prowess.engine import Engine
from prowess.types import Message, Turn

AGENTS, SOUL = BootstrapFile("AGENTS.md", "Be kind."), BootstrapFile("SOUL.md", "Be brave.")
BODY = "Use the small model for summaries and the large one for plans; batch what can wait until night. " * 3
POLICY = "profiles:\n  owner:\n    agents: [default, ada]\n    additional_tools: ['*']\n"
ASKED = "How much do tokens cost?"


def card(
    id: str = "economy",
    head: str = "",
    triggers: str = "",
    body: str = BODY,
    keywords: str = "[tokens, cost]",
) -> str:
    lines = "".join(f"  {line}\n" for line in ("keywords: " + keywords, *triggers.splitlines()))
    return f"---\nid: {id}\nname: {id.title()}\n{head}triggers:\n{lines}---\n{body}\n"


Opened = Callable[..., Any]


def asked(*texts: str, **fields: Any) -> Turn:
    return Turn(messages=tuple(Message("user", text) for text in texts), **fields)


def names(engine: Engine, turn: Turn | str = ASKED, **keys: Any) -> list[str]:
    return [one.name for one in engine.inject([AGENTS], turn, **keys).injected]
