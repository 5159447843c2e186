"""Finding the cause of a fall: one suspect after the other is switched off until it helps. Pure.

The most likely suspect is off first, and where that does not help, the next one goes off, too. With recovery,
the last of them is accused, and the others are switched on again, one after each evaluation. Should fitness
then fall anew, because the recovery was slow and came of an earlier one, the time of the fall tells of which:
that one goes off, and the one accused is on again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from prowess.evolution.probation import Level
from prowess.evolution.snapshot import Faculties

Verdict: TypeAlias = Literal["recovered", "still low"]

SURE = 4.0
"""So much more likely, in natural logarithms, one explanation must be than the other."""
PATIENCE = 5
"""So many evaluations the last suspect has until it counts as innocent: a recovery may be slow."""
MOST_SEEN = 5
"""After so many evaluations the likelier explanation holds, sure or not."""
NO_EVIDENCE: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True)
class Suspect:
    """A provider that may be the cause, since which evaluation it is there, and how much of its use fails."""

    provider: str
    since: int
    failing: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseSearch:
    accused: str
    """The suspect that is off now; of a proposal, the one that would be."""
    others: tuple[Suspect, ...] = ()
    """Suspects that were not tried yet, the likeliest first."""
    before: Level
    fallen: float
    """Where fitness lay after the fall."""
    good: int
    reason: str
    proposed: bool = False
    """Whether it waits for a person, with nothing switched so far."""
    tried: tuple[str, ...] = ()
    """Suspects that are off as well, without having helped."""
    earlier: str = ""
    """Who was taken for the cause of a fall just before this one: innocent, if somebody else is found."""
    rolled_back: bool = False
    """Whether a rollback switched the accused off, and its generation says so."""
    seen: int = 0
    weight: float = 0.0
    """How much the evaluations so far speak for recovery."""
    returned: tuple[str, ...] = ()
    """Who is on again to see whether fitness falls anew; the accused alone is off meanwhile."""
    fell: int = 0
    """The evaluation since the first return with which fitness turned."""
    slow: int = 0
    """So many evaluations later than at once a recovery is known to be seen."""
    lag: int = 0
    """So many evaluations after the suspect came the fall was seen: it may be as late the next time."""
    faculties: Faculties = field(default_factory=dict)
    """What the suspects bring, for when they are switched on again."""

    def observed(self, fitness: float) -> "CauseSearch":
        middle, distance = (self.before.mean + self.fallen) / 2, self.before.mean - self.fallen
        noise = max(self.before.spread, distance / 20, 1e-9)
        said = (fitness - middle) * distance / noise**2
        # What was measured before the change can show says nothing against it once it does.
        if self._turns(said):
            return replace(self, seen=self.seen + 1, weight=said, fell=self.seen + 1)
        return replace(self, seen=self.seen + 1, weight=self.weight + said)

    def _turns(self, said: float) -> bool:
        if self.returned:
            return self.weight >= 0 > said
        return bool(self.tried or self.slow) and self.weight < 0 < said

    @property
    def verdict(self) -> Verdict | None:
        """What the evaluations since the accused is off say; nothing while they say too little."""
        is_clear = abs(self.weight) >= SURE
        if self.returned:
            if self.weight <= -SURE:
                return "still low"
            beyond = self.seen - self.lag - len(self.returned)
            if beyond < 0 or self.tried or (self.weight <= 0 and beyond < MOST_SEEN):
                return None
            return "recovered" if self.weight > 0 else "still low"
        if self.seen <= self.slow and self.weight <= 0:
            return None
        if self.weight > 0:
            return "recovered" if is_clear or self.seen >= MOST_SEEN else None
        hurried = (bool(self.others) and not self.earlier) or self.seen >= PATIENCE
        return "still low" if (is_clear and hurried) or self.seen >= MOST_SEEN else None

    def next(self) -> "CauseSearch":
        """The trial of the next suspect."""
        following, *others = self.others
        tried = (*self.tried, self.accused)
        return replace(
            self, accused=following.provider, others=tuple(others), tried=tried, seen=0, weight=0.0
        )

    def returning(self) -> "CauseSearch":
        """The trial of whether those that did not help are innocent: the last of them is on again.

        One evaluation after the other comes back, so that when fitness falls anew tells with whom.
        """
        *others, last = self.tried
        returned, tried = (*self.returned, last), tuple(others)
        if self.returned:
            return replace(self, returned=returned, tried=tried)
        late = max(self.slow, self.seen - 1)
        return replace(self, returned=returned, tried=tried, others=(), seen=0, weight=0.0, slow=late)

    def turned(self) -> "CauseSearch":
        """The trial of the one with whose return fitness fell."""
        at = min(max(self.fell - self.lag - 1, 0), len(self.returned) - 1)
        rest = tuple(Suspect(name, 0) for name in self.returned if name != self.returned[at])
        slow = self.slow + at + 1
        return replace(
            self, accused=self.returned[at], returned=(), others=rest, tried=(), seen=0, weight=0.0, slow=slow
        )


def ranked(arrived: Mapping[str, int], evidence: Mapping[str, float], fell_at: int) -> tuple[Suspect, ...]:
    """The suspects, the likeliest first: whose calls fail, then what came last, but before the fall."""
    suspects = [Suspect(name, since, evidence.get(name, 0.0)) for name, since in arrived.items()]
    return tuple(
        sorted(suspects, key=lambda one: (-one.failing, one.since > fell_at, -one.since, one.provider))
    )


def told(suspects: Iterable[Suspect]) -> list[dict[str, object]]:
    return [{"provider": one.provider, "since": one.since, "failing": one.failing} for one in suspects]
