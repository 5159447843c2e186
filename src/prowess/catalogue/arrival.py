"""What a sync brings: readings of sources, whose they are, how far each is trusted, and their digests."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from prowess.catalogue.portions import Portion
from prowess.journal import canonical
from prowess.sources.lock.lock import NO_LOCK, LockVerdicts
from prowess.types import Draft, SourceReading, SourceRef, Trust


@dataclass(frozen=True, slots=True)
class OwnedContent:
    """Who offers a capability, from where, and with which content."""

    source: str
    place: str
    provider: str
    digest: str
    definition: str = ""
    """How the source that offers it is defined, where several configurations have one of that name."""
    original_id: str = ""
    original_digest: str = ""
    """What its author calls it and says, where prowess.toml words it otherwise."""

    def judged(self, id: str) -> tuple[str, str]:
        """The id and the digest of what its author wrote: what is judged, and what an approval is for."""
        return self.original_id or id, self.original_digest or self.digest


@dataclass(frozen=True, slots=True)
class ConfiguredSources:
    """Whose sources they are, and how far each is trusted."""

    trust: Mapping[str, Trust]
    """Of every source that is configured, in the order in which they count."""
    owner: str
    claimed: Mapping[str, str]
    """Source -> how this configuration defines it."""
    ranks: Mapping[str, int]
    """Source -> its place in that order."""

    @classmethod
    def of(cls, trust: Mapping[str, Trust], owner: str, definitions: Mapping[str, str]) -> Self:
        claimed = {source: definitions.get(source, "") for source in trust}
        return cls(trust, owner, claimed, {source: rank for rank, source in enumerate(trust)})


@dataclass(frozen=True, slots=True)
class Arrival:
    """A portion of what sources offer now."""

    sources: ConfiguredSources
    readings: Mapping[str, SourceReading]
    """Of the sources in it, with those of their entries that are in it."""
    ended: frozenset[str]
    """The sources of which nothing more comes."""
    is_last: bool
    digests: Mapping[int, str]
    """The digest of each draft by its identity: made once, before the store is locked."""
    lock: LockVerdicts = NO_LOCK
    """What prowess.lock says about what was read."""

    @classmethod
    def of(cls, sources: ConfiguredSources, portion: Portion, lock: LockVerdicts = NO_LOCK) -> Self:
        entries = [entry for reading in portion.readings.values() for entry in reading.entries]
        drafts = [draft for entry in entries for draft in entry.drafts or ()]
        drafts += [draft.original for draft in drafts if draft.original]
        digests = {id(draft): digest(draft) for draft in drafts}
        return cls(sources, portion.readings, portion.ended, portion.is_last, digests, lock)

    @property
    def trust(self) -> Mapping[str, Trust]:
        return self.sources.trust

    @property
    def claimed(self) -> Mapping[str, str]:
        return self.sources.claimed

    @property
    def drafted(self) -> set[str]:
        """The ids of everything that was read anew."""
        entries = [entry for reading in self.readings.values() for entry in reading.entries]
        return {draft.capability.id for entry in entries for draft in entry.drafts or ()}

    def was_read(self, source: str) -> bool:
        reading = self.readings.get(source)
        return reading is not None and not reading.down


def digest(draft: Draft) -> str:
    """What a capability says, as a hash; where it was read does not matter.

    What its author wrote counts as well, where prowess.toml words it otherwise.
    """
    content = replace(draft.capability, source="", source_ref=SourceRef("", ""), digest="", unavailable=())
    said = [content, draft.detail, *([digest(draft.original)] if draft.original else ())]
    return hashlib.sha256(canonical(said).encode()).hexdigest()
