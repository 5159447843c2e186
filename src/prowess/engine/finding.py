"""What `find` answers, also while the store is away.

Above: the engine. Below: the world and search. A catalogue that is held in memory is searched there. Of one
that is looked up, a process holds too little to say what fits best, so it gives the answers that it gave
before, as long as the catalogue and the policy it saw last are those that they were given under.
"""

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from prowess.discovery.ranking import Options
from prowess.engine import search
from prowess.errors import StoreAway
from prowess.types import Hit
from prowess.world import World

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

MOST_REMEMBERED = 2000
NOT_HELD = (
    "of a catalogue beyond in_memory, only what this process answered lately is answered from memory, and"
    " this request is not among it"
)


@dataclass(frozen=True, slots=True)
class AnsweredLately:
    """The newest answers, by who asked for what, and of which catalogue under which policy."""

    _held: OrderedDict[Hashable, tuple[Hit, ...]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def keep(self, key: Hashable, hits: tuple[Hit, ...]) -> None:
        with self._lock:
            self._held[key] = hits
            self._held.move_to_end(key)
            while len(self._held) > MOST_REMEMBERED:
                self._held.popitem(last=False)

    def get(self, key: Hashable) -> tuple[Hit, ...] | None:
        with self._lock:
            return self._held.get(key)


def find(inner: "Internals", request: str, agent: str, given: Mapping[str, Any]) -> tuple[Hit, ...]:
    """What fits a request, best first; where the store is away, with that as the first reason of each."""
    world, stale = inner.world_or_memory(agent)
    chosen = search.options(inner.settings(given))
    if not world.view.is_stored:
        return search.marked(_hits(inner, world, request, agent, chosen), stale)
    key = (agent, request, chosen, world.view.era, world.view.version, world.policy.state)
    if not stale:
        try:
            hits = _hits(inner, world, request, agent, chosen)
        except StoreAway as away:  # it went while we searched
            stale = away.message
        else:
            inner.answered.keep(key, hits)
            return hits
    known = () if world.stopped.get(agent) else inner.answered.get(key)
    if known is None:
        raise StoreAway(inner.database.place, NOT_HELD)
    return search.marked(known, stale)


def _hits(inner: "Internals", world: World, request: str, agent: str, chosen: Options) -> tuple[Hit, ...]:
    return inner.search(world).hits(request, world.visible(agent).capabilities, chosen)
