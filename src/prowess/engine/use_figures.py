"""How often things are used, how it ended and how long it took: counted in the latest entries of the journal.

Above: the reports on servers and agents. Below: the journal. A call that prowess made is there as a `call`
and as an `outcome`, so outcomes count only where a host program called by itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from prowess.journal import Journal, JournalSearch, read
from prowess.journal.entries import Called, OutcomeRecorded

MADE = ("ok", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedUse:
    """One call, as the journal has it."""

    at: str
    agent: str
    capability: str
    ending: str
    """"ok", "failed", or why it was not made."""
    detail: str = ""
    milliseconds: float | None = None
    trace: str = ""
    """The request it belongs to; empty where it belongs to none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UseFigures:
    calls: int = 0
    """Those that were made, whether they worked or not."""
    failed: int = 0
    denied: int = 0
    """Those that policy did not allow."""
    median: float | None = None
    """Milliseconds; of twenty calls, nineteen take no longer than `slow`."""
    slow: float | None = None
    last_at: str = ""
    last_problem: RecordedUse | None = None


def recorded_uses(
    journal: Journal, most: int, agent: str | None = None, since: str = ""
) -> tuple[RecordedUse, ...]:
    """The latest uses, the newest first; of one agent, or of all."""
    found, search = [], JournalSearch(since=since)
    kinds = (journal.latest(most, agent, type, None, search) for type in ("call", "outcome"))
    for stored in chain.from_iterable(kinds):
        entry = read(stored)
        if isinstance(entry, Called):
            took = entry.milliseconds if entry.outcome in MADE else None
            ending = entry.outcome
        elif isinstance(entry, OutcomeRecorded) and not entry.key:
            took, ending = entry.milliseconds, "ok" if entry.ok else "failed"
        else:
            continue
        found.append(
            RecordedUse(
                at=stored.at, agent=stored.chain, capability=entry.capability, ending=ending,
                detail=entry.detail, milliseconds=took, trace=entry.trace,
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda one: one.at, reverse=True))


def figures(uses: Iterable[RecordedUse]) -> UseFigures:
    """What uses come to; they are given the newest first."""
    every = tuple(uses)
    made = [one for one in every if one.ending in MADE]
    times = sorted(one.milliseconds for one in made if one.milliseconds is not None)
    return UseFigures(
        calls=len(made),
        failed=sum(one.ending == "failed" for one in made),
        denied=sum(one.ending == "denied" for one in every),
        median=_at(times, 0.5),
        slow=_at(times, 0.95),
        last_at=every[0].at if every else "",
        last_problem=next((one for one in every if one.ending == "failed"), None),
    )


def _at(times: Sequence[float], share: float) -> float | None:
    return times[min(len(times) - 1, int(len(times) * share))] if times else None
