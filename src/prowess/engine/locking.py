"""What servers offer now beside what prowess.lock says of them, for `prowess lock`.

Above: the command line. Below: the sources, and a sync, which holds back what differs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from prowess.catalogue.quarantine import LOCKED
from prowess.engine.internals import Internals
from prowess.engine.sync import Readings
from prowess.sources.lock.lock import Lock, LockDifference, differences, is_locked_kind, server_now
from prowess.sources.lock.lock_file import read_lock
from prowess.sources.overrides import NO_OVERRIDES, Overrides, overridden
from prowess.sources.read_all import SyncProgress, read_all
from prowess.sources.source import Source
from prowess.types import HeldCapability, SourceReading


@dataclass(frozen=True, slots=True, kw_only=True)
class LockReview:
    """A lock as it is and as it would be, and what is not in it."""

    before: Lock | None
    now: Lock
    unread: tuple[LockDifference, ...]
    """Servers that could not be read, and why: the lock keeps what it has of them."""
    left_out: tuple[HeldCapability, ...] = ()
    """What is held back for another reason than the lock."""
    readings: Readings = field(default_factory=dict, repr=False)

    @property
    def differences(self) -> tuple[LockDifference, ...]:
        """How the servers differ from the lock."""
        return differences(self.before or Lock(), self.now)


def compared(
    lock: Lock, sources: Sequence[Source], overrides: Mapping[str, Overrides], progress: SyncProgress
) -> LockReview:
    """The servers beside a lock; nothing is written, and no store is needed."""
    chosen = [source for source in sources if is_locked_kind(source)]
    found = read_all(chosen, lambda _: {}, progress)
    readings = {name: overridden(name, one, overrides.get(name, NO_OVERRIDES)) for name, one in found}
    return _review(lock, chosen, readings)


def read_for_lock(inner: Internals, progress: SyncProgress) -> LockReview:
    """What the lock would say now: all that the servers offer, but what is held back for another reason."""
    sources = inner.sources
    readings = dict(inner.syncing.read(sources, (), progress, afresh=True))
    inner.syncing.take_in(sources, (), readings.items())
    held = inner.world().view.quarantined.values()
    chosen = [source for source in sources.current if is_locked_kind(source)]
    names = {source.name for source in chosen}
    left_out = tuple(one for one in held if one.state == "rejected" or not one.reason.startswith(LOCKED))
    left_out = tuple(one for one in left_out if inner.world().view.get(one.id).source in names)
    return _review(read_lock(sources.lock_file), chosen, readings, left_out)


def use_lock(inner: Internals, review: LockReview) -> None:
    """Let go what the lock, as it is written now, has."""
    inner.syncing.take_in(inner.sources, (), review.readings.items())


def _review(
    before: Lock | None,
    sources: Sequence[Source],
    readings: Readings,
    left_out: tuple[HeldCapability, ...] = (),
) -> LockReview:
    without = {one.id for one in left_out}
    servers = {}
    unread = []
    for source in sources:
        reading = readings[source.name]
        if why := _unread(reading):
            unread.append(LockDifference(source.name, f"cannot be compared: {why}"))
            if before and source.name in before.servers:
                servers[source.name] = before.servers[source.name]
        else:
            servers[source.name] = server_now(source, reading, without)
    return LockReview(
        before=before, now=Lock(servers), unread=tuple(unread), left_out=left_out, readings=readings
    )


def _unread(reading: SourceReading) -> str:
    """Why a reading does not say everything that its server offers."""
    if reading.down:
        return reading.down
    missing = [entry.place for entry in reading.entries if entry.drafts is None]
    return f"{' and '.join(missing)} could not be listed" if missing else ""
