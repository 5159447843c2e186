"""What a sync remembers from one portion to the next: what it has passed, and what nobody offers any more.

Above: the intake, which moves it on when a portion is written. Below: nothing. It grows with what changes and
with the largest source, never with the catalogue.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from prowess.catalogue.arrival import Arrival, OwnedContent
from prowess.types import Problem, SourceReading

Place = tuple[str, str]
"""A source, and one of its entries."""
Takeovers = Mapping[str, tuple[OwnedContent, OwnedContent]]
"""Id -> whose it was and whose it is."""


@dataclass(slots=True)
class PassedEntries:
    """What of one source was in earlier portions."""

    ids: set[str] = field(default_factory=set)
    """Of everything it says anew."""
    kept: set[str] = field(default_factory=set)
    """Places that are as they were."""
    read: set[str] = field(default_factory=set)
    """Places that were read again."""
    refused: set[str] = field(default_factory=set)
    """Places of which something is already defined by another."""
    problems: list[Problem] = field(default_factory=list)

    def add(self, reading: SourceReading) -> None:
        for entry in reading.entries:
            if entry.drafts is None:
                self.kept.add(entry.place)
            else:
                self.read.add(entry.place)
                self.ids.update(draft.capability.id for draft in entry.drafts)


@dataclass(slots=True)
class SyncState:
    reads: frozenset[str]
    """The sources that are read in this sync, now or later."""
    most: int
    """How many capabilities a portion has."""
    since: int = 0
    """The version of the catalogue that this sync makes first: what it brings is as old as that."""
    done: dict[str, SourceReading] = field(default_factory=dict)
    """What was read of each source, without its entries."""
    passed: dict[str, PassedEntries] = field(default_factory=dict)
    """Of the source of which more is to come."""
    dropped: dict[str, OwnedContent] = field(default_factory=dict)
    """What is there and offered no more, by anybody so far."""
    taken: dict[Place, dict[str, OwnedContent]] = field(default_factory=dict)
    """Ids that were at a place of a source that comes later, and whose they are now."""
    unjudged: set[str] = field(default_factory=set)
    """Sources of which something is held back because the guard is broken."""
    own_new: int = 0
    """How many new texts of this machine came, of which the first are judged."""
    first_seen: set[str] = field(default_factory=set)
    """Sources that offer something for the first time, of which more is to come."""
    is_begun: bool = False
    is_read: bool = False
    """Whether everything has been read, and what is offered no more is all there is to see to."""

    def entries_of(self, source: str) -> PassedEntries:
        """What of a source was in earlier portions."""
        return self.passed.get(source) or PassedEntries()

    def move_on(
        self, arrival: Arrival, problems: Mapping[str, Sequence[Problem]], refused: Collection[Place],
        takeovers: Takeovers,
    ) -> None:  # fmt: skip
        """A portion is written. problems, refused: what of its sources is already defined by others."""
        self.is_begun, self.is_read = True, arrival.is_last
        for source, reading in arrival.readings.items():
            self.done.setdefault(source, replace(reading, entries=()))
            if source in arrival.ended:
                self.passed.pop(source, None)
                self.first_seen.discard(source)
            else:
                passed = self.passed.setdefault(source, PassedEntries())
                passed.add(reading)
                passed.refused.update(place for name, place in refused if name == source)
                passed.problems += problems.get(source, ())
        for id, (before, now) in takeovers.items():
            if self._is_to_come(before.source, before.place):
                self.taken.setdefault((before.source, before.place), {})[id] = now

    def _is_to_come(self, source: str, place: str) -> bool:
        """Whether a source will say of a place, in a later portion, what is there."""
        if source in self.done:
            passed = self.passed.get(source)
            return passed is not None and place not in passed.kept
        return source in self.reads
