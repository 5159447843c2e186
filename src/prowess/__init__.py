"""What an AI agent can do: what exists, what it may use, what it needs now.

    with prowess.open() as engine:
        engine.sync()
        offer = engine.offer("find flights to Oslo and tell the team")

A name is loaded when it is first used, so that importing prowess costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prowess.engine import Engine
    from prowess.errors import ProwessError
    from prowess.opening import open
    from prowess.sources.python.events import event_handler
    from prowess.sources.python.functions import tool
    from prowess.types import Capability, Decision, Hit, Message, Offer, Outcome, Turn

__all__ = [
    "Capability",
    "Decision",
    "Engine",
    "Hit",
    "Message",
    "Offer",
    "Outcome",
    "ProwessError",
    "Turn",
    "event_handler",
    "open",
    "tool",
]

HOMES = {
    "Engine": "prowess.engine",
    "ProwessError": "prowess.errors",
    "open": "prowess.opening",
    "event_handler": "prowess.sources.python.events",
    "tool": "prowess.sources.python.functions",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'prowess' has no attribute {name!r}")
    return getattr(import_module(HOMES.get(name, "prowess.types")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
