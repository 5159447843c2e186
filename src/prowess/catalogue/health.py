"""What each process saw of a source when it last read it, and what that says to another process.

A process goes by what it saw itself. One that has not looked goes by a process that still runs and could
read the source, else by whoever looked last. What was down an hour ago may be up again.

Above: the catalogue, which reads and writes this with a sync. Below: the store.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec

from prowess.journal import canonical, stamp
from prowess.store.database import Transaction
from prowess.types import Problem, SourceReading

EXPIRY = timedelta(hours=1)
"""How long a source that could not be read is called down."""
MAX_ENDED = 8
"""How many nodes that vouch for nothing are remembered for a source; some of them may still run."""

Problems = tuple[Problem, ...]
_problem = msgspec.json.Decoder(Problems)
_names = msgspec.json.Decoder(dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingNode:
    """A process that reads sources, and how long it vouches for what it saw, unless it ends."""

    id: str
    vouches: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Observation:
    """What one node saw of one source."""

    node: str
    source: str
    definition: str
    down: str
    """Why nothing of it could be read; empty where it could."""
    providers_down: Mapping[str, str]
    """What it brings that cannot be used -> why, where the rest can."""
    problems: Problems
    at: str
    until: str

    @property
    def is_wrong(self) -> bool:
        """Whether anything of it is down."""
        return bool(self.down or self.providers_down)

    @property
    def as_seen(self) -> tuple[object, ...]:
        """What was seen, whenever that was."""
        return self.definition, self.down, self.providers_down, self.problems


@dataclass(frozen=True, slots=True)
class Health:
    """What is down, as one node has to take it."""

    down: Mapping[str, str] = field(default_factory=dict)
    """Source -> why."""
    providers: Mapping[str, str] = field(default_factory=dict)
    """Provider -> why, where others of its source can be used."""
    problems: Problems = ()
    """What was wrong with the sources that could not be read."""


NOTHING_DOWN = Health()


def health(observations: Iterable[Observation], node: str, now: datetime) -> Health:
    """What the observations of all nodes say to one of them."""
    by_source: dict[str, list[Observation]] = {}
    for one in observations:
        by_source.setdefault(one.source, []).append(one)
    deciding = [_deciding(found, node, stamp(now)) for found in by_source.values()]
    fresh = [one for one in deciding if one.at >= stamp(now - EXPIRY)]
    return Health(
        {one.source: one.down for one in fresh if one.down},
        {name: why for one in fresh for name, why in one.providers_down.items()},
        tuple(problem for one in deciding if one.down for problem in one.problems),
    )


def health_anywhere(observations: Iterable[Observation], now: datetime) -> Health:
    """What no node that still runs can reach; where none runs, what nobody could who looked last."""
    by_source: dict[str, list[Observation]] = {}
    for one in observations:
        by_source.setdefault(one.source, []).append(one)
    down: dict[str, str] = {}
    providers: dict[str, str] = {}
    for source, found in by_source.items():
        live = [one for one in found if one.until > stamp(now)] or [max(found, key=_when)]
        latest = max(live, key=_when)
        if latest.at < stamp(now - EXPIRY):
            continue
        if all(one.down for one in live):
            down[source] = latest.down
        for name, why in latest.providers_down.items():
            if all(one.down or name in one.providers_down for one in live):
                providers[name] = why
    return Health(down, providers)


def _deciding(found: Sequence[Observation], node: str, now: str) -> Observation:
    for one in found:
        if one.node == node:
            return one
    running = [one for one in found if one.until > now and not one.is_wrong]
    return max(running or found, key=_when)


def _when(observation: Observation) -> tuple[str, str]:
    return observation.at, observation.node


# --- the table -----------------------------------------------------------------------------------


def observations(transaction: Transaction) -> tuple[Observation, ...]:
    rows = transaction.all(
        "SELECT node, source, definition, down, providers_down, problems, at, until FROM source_health"
        " WHERE workspace = :workspace ORDER BY source, node"
    )
    return tuple(
        Observation(node, source, definition, down, _names.decode(bring), _problem.decode(wrong), at, until)
        for node, source, definition, down, bring, wrong, at, until in rows
    )


def note(
    transaction: Transaction, readings: Mapping[str, SourceReading], claimed: Mapping[str, str],
    node: ReadingNode, now: datetime,
) -> bool:  # fmt: skip
    """Write down what a node saw of the sources it read; true when that may change what others see."""
    before = observations(transaction)
    _forget(transaction, before, node, stamp(now))
    seen = [
        Observation(
            node.id, source, claimed[source], reading.down, _providers_down(reading),
            _problems(reading), stamp(now), stamp(now + node.vouches),
        )
        for source, reading in readings.items()
    ]  # fmt: skip
    transaction.many(
        "INSERT INTO source_health"
        " (workspace, node, source, definition, down, providers_down, problems, at, until)"
        " VALUES (:workspace, :node, :source, :definition, :down, :providers, :problems, :at, :until)"
        " ON CONFLICT (workspace, node, source) DO UPDATE SET definition = excluded.definition,"
        " down = excluded.down, providers_down = excluded.providers_down, problems = excluded.problems,"
        " at = excluded.at, until = excluded.until",
        (
            {
                "node": one.node, "source": one.source, "definition": one.definition, "down": one.down,
                "providers": canonical(one.providers_down), "problems": canonical(one.problems),
                "at": one.at, "until": one.until,
            }
            for one in seen
        ),
    )  # fmt: skip
    return any(_is_news(one, before) for one in seen)


def vouch(transaction: Transaction, node: ReadingNode, now: datetime) -> None:
    """The node still runs, and still has what it could read."""
    _vouch(transaction, node.id, stamp(now + node.vouches))


def release(transaction: Transaction, node: ReadingNode, now: datetime) -> None:
    """The node ends: what it saw is from now on only what somebody saw once."""
    _vouch(transaction, node.id, stamp(now))


def _vouch(transaction: Transaction, node: str, until: str) -> None:
    transaction.run(
        "UPDATE source_health SET until = :until WHERE workspace = :workspace AND node = :node",
        node=node, until=until,
    )  # fmt: skip


def _forget(transaction: Transaction, before: Iterable[Observation], node: ReadingNode, now: str) -> None:
    """What nobody goes by any more, so that many short runs do not fill the store."""
    ended: dict[str, list[Observation]] = {}
    for one in before:
        if one.until <= now and one.node != node.id:
            ended.setdefault(one.source, []).append(one)
    transaction.many(
        "DELETE FROM source_health WHERE workspace = :workspace AND node = :node AND source = :source",
        (
            {"node": one.node, "source": one.source}
            for found in ended.values()
            for one in sorted(found, key=_when)[:-MAX_ENDED]
        ),
    )
    transaction.run(
        "DELETE FROM source_health WHERE workspace = :workspace"
        " AND source NOT IN (SELECT source FROM provider WHERE workspace = :workspace)"
    )


def _is_news(seen: Observation, before: Iterable[Observation]) -> bool:
    of_source = [one for one in before if one.source == seen.source]
    own = next((one for one in of_source if one.node == seen.node), None)
    if own is None:
        return seen.is_wrong or any(one.is_wrong for one in of_source)
    return own.as_seen != seen.as_seen


def _providers_down(reading: SourceReading) -> Mapping[str, str]:
    return {} if reading.down else {one.name: one.down for one in reading.providers if one.down}


def _problems(reading: SourceReading) -> Problems:
    """Of one that could not be read at all; what is wrong with what was read is kept beside it."""
    return reading.problems if reading.down else ()
