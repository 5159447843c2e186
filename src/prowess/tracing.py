"""Spans around what an engine does, for whoever follows requests through a whole program.

Above: the engine, the calls and the gateway, which open them; `otel`, which makes them OpenTelemetry's. An
engine that was given no tracer opens none. Facts have the names of the journal; a tracer gives them its own.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Literal, Protocol, TypeAlias

from prowess.types import Offer

Step = Literal["offer", "search", "call"]
Fact: TypeAlias = str | int | Sequence[str]


class Span(Protocol):
    """One step while it lasts."""

    def add(self, **facts: Fact) -> None:
        """What is known by now: of an offer or a search `offer`, `hits` and `tokens`; of a call
        `capability`, `offer`, `outcome`, `revision`, `way` and `call`."""


class Tracer(Protocol):
    def span(self, step: Step, agent: str, name: str = "") -> AbstractContextManager[Span]:
        """A span that lasts as long as the block; `name` is what is called."""


def facts_of(offer: Offer) -> dict[str, Fact]:
    """What the span of an offer says of it."""
    shown = dict.fromkeys((*(hit.id for hit in offer.hits), *offer.tool_ids.values()))
    return {"offer": offer.id, "hits": tuple(shown), "tokens": offer.tokens.total}


class NoTracer:
    """Opens no spans."""

    @contextmanager
    def span(self, step: Step, agent: str, name: str = "") -> Iterator[Span]:
        yield _NOTHING


class _NoSpan:
    def add(self, **facts: Fact) -> None:
        """Nobody follows."""


_NOTHING = _NoSpan()
