"""Why something is not in an offer: told to people and the host program, never to a model."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from prowess.catalogue.view import View
from prowess.types import Capability, Hit, LeftOut

NEAREST = 20

OFF, DENIED, HELD = "switched off", "denied", "quarantined"
UNAVAILABLE, FILTERED, NO_ROOM = "unavailable", "left out by a filter", "no room in the budget"
LATER, BELOW = "after the best that were asked for", "below the threshold"


@dataclass(frozen=True, slots=True)
class Absence:
    """What an agent cannot be offered whatever it asks; holds until the catalogue or policy changes."""

    everything: View
    visible: View
    hidden: Mapping[str, str]
    hidden_counts: Mapping[str, int]
    unavailable: frozenset[str]
    cards: frozenset[str]
    """Cards are injected, not offered, so none is left out."""

    @classmethod
    def of(cls, everything: View, visible: View, agent: str) -> "Absence":
        hidden = {
            id: why_hidden(each, everything, agent)
            for id, each in everything.capabilities.items()
            if id not in visible.capabilities
        }
        seen = visible.capabilities
        unavailable = frozenset(id for id, c in seen.items() if not c.available and c.kind != "card")
        cards = frozenset(id for id, c in seen.items() if c.kind == "card")
        return cls(everything, visible, hidden, Counter(hidden.values()), unavailable, cards)

    def left_out(
        self, nearest: Sequence[Hit], shown: Collection[str], no_room: Collection[str], least: float,
        unfit: Mapping[str, str],
    ) -> LeftOut:  # fmt: skip
        """Count everything that is not shown by its reason, and name the nearest of it.

        `unfit` are those that the filters of this search leave out; `least` is its threshold.
        """
        reasons = {**unfit, **dict.fromkeys(no_room, NO_ROOM)}
        counts = Counter(self.hidden_counts)
        counts.update(why for id, why in reasons.items() if id not in shown)
        close = []
        for hit in nearest:
            if hit.id not in shown and hit.id not in self.cards:
                why = self.hidden.get(hit.id) or reasons.get(hit.id)
                close.append((hit.id, why or (LATER if hit.score >= least else BELOW)))
        counts[LATER] = sum(why == LATER for _, why in close)
        offered = len(self.visible.capabilities) - len(self.cards) - len(shown)
        counts[BELOW] = offered - counts[LATER] - sum(id not in shown for id in reasons)
        return LeftOut(
            {why: count for why, count in sorted(counts.items()) if count > 0}, tuple(close[:NEAREST])
        )

    def unfit(self, only_available: bool, passes: Callable[[Capability], bool] | None) -> dict[str, str]:
        """What a search leaves aside before it looks: the unavailable, and what does not pass its filters."""
        seen, aside = self.visible.capabilities, dict[str, str]()
        if passes is not None:
            filtered = (id for id, each in seen.items() if id not in self.cards and not passes(each))
            aside = dict.fromkeys(filtered, FILTERED)
        return {**aside, **dict.fromkeys(self.unavailable, UNAVAILABLE)} if only_available else aside


def why_hidden(capability: Capability, everything: View, agent: str) -> str:
    """Why an agent does not see something that exists."""
    if capability.id in everything.quarantined:
        return HELD
    return OFF if everything.off(capability.provider, agent) else DENIED


def left_out_of_many(
    total: int, usable: int, nearest: Sequence[Hit], hidden: Mapping[str, str], shown: Collection[str],
    no_room: Collection[str], least: float,
) -> LeftOut:  # fmt: skip
    """The same where not everything is looked at: what an agent does not see is counted as one.

    total, usable: how many there are, and how many of them it may use.
    """
    close = [
        (hit.id, hidden.get(hit.id) or (LATER if hit.score >= least else BELOW))
        for hit in nearest
        if hit.id not in shown and hit.id not in no_room
    ]
    later = sum(why == LATER for _, why in close)
    counts = {
        DENIED: total - usable,
        NO_ROOM: len(no_room),
        LATER: later,
        BELOW: usable - len(shown) - len(no_room) - later,
    }
    return LeftOut({why: count for why, count in sorted(counts.items()) if count > 0}, tuple(close[:NEAREST]))
