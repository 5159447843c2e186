"""Why something is not in an offer: told to people and the host program, never to a model."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from prowess.catalogue.view import View
from prowess.types import Hit, LeftOut

NEAREST = 20

OFF, DENIED, HELD = "switched off", "denied", "quarantined"
UNAVAILABLE, NO_ROOM, BELOW = "unavailable", "no room in the budget", "below the threshold"


@dataclass(frozen=True, slots=True)
class Absence:
    """What an agent cannot be offered whatever it asks; holds until the catalogue or policy changes."""

    everything: View
    visible: View
    hidden: Mapping[str, str]
    unavailable: frozenset[str]

    @classmethod
    def of(cls, everything: View, visible: View, agent: str) -> "Absence":
        hidden = {
            id: HELD if id in everything.quarantined else OFF if everything.off(c.provider, agent) else DENIED
            for id, c in everything.capabilities.items()
            if id not in visible.capabilities
        }
        unavailable = frozenset(id for id, c in visible.capabilities.items() if not c.available)
        return cls(everything, visible, hidden, unavailable)

    def left_out(
        self, nearest: Sequence[Hit], shown: Collection[str], no_room: Collection[str], only_available: bool
    ) -> LeftOut:
        """Count everything that is not shown by its reason, and name the nearest of it."""
        unavailable = self.unavailable if only_available else frozenset[str]()
        absent = unavailable.difference(shown, no_room)
        below = len(self.visible.capabilities) - len(shown) - len(no_room) - len(absent)
        counts = Counter(self.hidden.values())
        counts.update({UNAVAILABLE: len(absent), NO_ROOM: len(no_room), BELOW: below})

        def reason(id: str) -> str:
            if id in no_room:
                return NO_ROOM
            return self.hidden.get(id) or (UNAVAILABLE if id in unavailable else BELOW)

        close = tuple((hit.id, reason(hit.id)) for hit in nearest if hit.id not in shown)
        return LeftOut({why: count for why, count in sorted(counts.items()) if count}, close[:NEAREST])
