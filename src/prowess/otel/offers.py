"""Which offers a tool may have been chosen from: the latest ones of whoever calls it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass

from prowess.tracing import Fact, facts_of
from prowess.types import Offer

MAX_CURRENT = 8
"""How many offers back a tool of a long conversation may have been chosen from."""


@dataclass(frozen=True, slots=True)
class ShownTools:
    """An offer or a search, whose it was, and what it showed."""

    offer: str
    agent: str
    capabilities: frozenset[str]


def shown_tools(facts: Mapping[str, Fact], agent: str) -> ShownTools:
    """What the facts of an offer or a search say that it showed."""
    hits = facts.get("hits", ())
    return ShownTools(str(facts["offer"]), agent, frozenset(() if isinstance(hits, str | int) else hits))


def with_latest(earlier: Sequence[ShownTools], latest: ShownTools) -> tuple[ShownTools, ...]:
    """The offers so far, and one more."""
    return (latest, *(one for one in earlier if one.offer != latest.offer))[:MAX_CURRENT]


def chosen_from(offers: Sequence[ShownTools], capability: str) -> ShownTools | None:
    """The latest of these offers that showed the capability."""
    return next((one for one in offers if capability in one.capabilities), None)


class CurrentOffers:
    """The offers of whoever runs here, the newest first; a task that is started inherits them."""

    def __init__(self) -> None:
        # One for each tracer: what another engine of this program offered is no offer of this one.
        self._offers: ContextVar[tuple[ShownTools, ...]] = ContextVar("prowess_offers", default=())

    def get(self) -> tuple[ShownTools, ...]:
        return self._offers.get()

    def add(self, latest: ShownTools) -> Token[tuple[ShownTools, ...]]:
        return self._offers.set(with_latest(self._offers.get(), latest))

    @contextmanager
    def having(self, offer: Offer) -> Iterator[None]:
        """As long as the block lasts, with this offer as the latest."""
        before = self.add(shown_tools(facts_of(offer), offer.agent))
        try:
            yield
        finally:
            self._offers.reset(before)
