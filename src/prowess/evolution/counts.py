"""From journal entries to the counts that scores are computed from.

What an agent did lately counts when it differs from what it did before by more than chance; else all of it
counts, which moves less, filled up with what it did before where there is little. So a tool that breaks shows
within some ten calls, and a steady agent looks steady.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from prowess.evolution.fitness import Counts
from prowess.journal import Entry, Raw, read
from prowess.journal.between_turns import InterventionReported, ResultSuspected, ViolationReported
from prowess.journal.entries import ApprovalAnswered, Called, Decided, OutcomeRecorded
from prowess.types import JournalEntry

RECENT = 20
"""So many of the latest requests are held against those before them."""
RECENT_USES = 5
STRETCHES = (5, 10, 20, 40, 80, 160)
"""So many of the latest uses of one capability are held against those before them."""
CHANCE = 1e-4
"""Less likely than this, what happened lately is no chance."""
CHANCE_OF_ONE = 3e-5
"""The same for one of many capabilities, over one of many stretches."""
USUAL = 0.1
"""How often a capability fails of which nothing was seen before."""
CERTAINTY = 4
"""How many uses that stands for."""
FEWEST = 10
"""Requests that incidents are held against at least: the first one is no pattern."""
HALF = 0.5
"""A use that policy denied is half an incident: the agent tried, and nothing happened."""


@dataclass(frozen=True, slots=True)
class _Request:
    """One thing an agent was to do."""

    place: int
    capability: str
    ok: bool


def count(entries: Iterable[JournalEntry], since: int = 0, good_until: int = 0) -> Counts:
    """What an agent did, as these entries of its chain say, the oldest first.

    since: only what came behind the entry of this number counts; what came before says what is usual.
    good_until: where less than 20 requests came later, those up to this one make up for it.
    """
    every = list(_once(entries))
    counted = [Counter(_counted(entry)) for entry in every]
    first = next((place for place, entry in enumerate(every) if entry.number > since), len(every))
    requests = list(_requests(every))
    now = [one for one in requests if one.place >= first]
    recent = now[-RECENT:]
    changed = bool(recent) and _changed(requests, recent)
    start = recent[0].place if changed else first
    earlier = [one.place for one in requests if one.place < first and every[one.place].number <= good_until]
    few = RECENT - len(now) if now and not changed else 0
    filled = [counted[place] for place in earlier[-few:]] if few > 0 else []
    chosen = sum([*counted[start:], *filled], Counter[str]())
    lately = sum(counted[recent[0].place if recent else first :], Counter[str]())
    return Counts(
        requests=chosen["requests"],
        responses=chosen["responses"],
        errors=chosen["errors"],
        permissions_requested=chosen["permissions_requested"],
        permissions_approved=chosen["permissions_approved"],
        human_interventions=sum(each["human_interventions"] for each in counted),
        asked_in_all=len(requests),
        safety_violations=sum(each["safety_violations"] for each in counted[first:]),
        incidents=_incidents(lately) / max(FEWEST, len(recent)),
        failing=max(_failing(requests, first), default=0.0),
    )


def _once(entries: Iterable[JournalEntry]) -> Iterator[JournalEntry]:
    """Without the calls whose denial is there as the decision that it was."""
    decided: set[str] = set()
    for entry in entries:
        match read(entry):
            case Decided(verdict="deny", call=call) if call:
                decided.add(call)
            case Called(outcome="denied", call=call) if call in decided:
                continue
        yield entry


def _counted(entry: JournalEntry) -> Iterator[str]:
    said = read(entry)
    yield from _of_a_request(said)
    yield from _of_a_refusal(said)


def _of_a_request(said: Entry | Raw) -> Iterator[str]:
    match said:
        case OutcomeRecorded(ok=ok):
            yield from ("requests", "responses" if ok else "errors")
        case Decided(verdict="deny") | Called(outcome="denied"):
            yield from ("requests", "permissions_requested", "denials")
        case Decided(verdict="ask"):
            yield from ("permissions_requested", "human_interventions")
        case ApprovalAnswered(state="approved"):
            yield "permissions_approved"


def _of_a_refusal(said: Entry | Raw) -> Iterator[str]:
    match said:
        case ApprovalAnswered(state="refused"):
            yield "refusals"
        case ResultSuspected():
            yield "suspicions"
        case InterventionReported():
            yield "human_interventions"
        case ViolationReported():
            yield "safety_violations"


def _requests(entries: Sequence[JournalEntry]) -> Iterator[_Request]:
    for place, entry in enumerate(entries):
        match read(entry):
            case OutcomeRecorded(capability=capability, ok=ok):
                yield _Request(place, capability, ok)
            case Decided(verdict="deny", capability=capability):
                yield _Request(place, capability, False)
            case Called(outcome="denied", capability=capability):
                yield _Request(place, capability, False)


def _incidents(counted: Counter[str]) -> float:
    return counted["refusals"] + counted["suspicions"] + HALF * counted["denials"]


# --- what is more than chance ----------------------------------------------------------------


def _changed(requests: Sequence[_Request], recent: Sequence[_Request]) -> bool:
    """Whether the latest requests failed, or worked, far more often than those before them."""
    before = [one.ok for one in requests[: len(requests) - len(recent)]]
    if not before:
        return False
    usual, failed = _share(before), sum(not one.ok for one in recent)
    worse = at_least(failed, len(recent), usual)
    better = at_least(len(recent) - failed, len(recent), 1 - usual)
    return min(worse, better) < CHANCE


def _failing(requests: Sequence[_Request], first: int) -> Iterator[float]:
    """How often each capability fails that lately fails far more often than it did."""
    uses: dict[str, list[_Request]] = {}
    for one in requests:
        uses.setdefault(one.capability, []).append(one)
    for capability in {one.capability for one in requests[-2 * RECENT :]}:
        failed = [not one.ok for one in uses[capability]]
        fresh = sum(one.place >= first for one in uses[capability])
        latest = failed[-min(RECENT_USES, fresh) :] if fresh else []
        is_broken = 2 * sum(latest) > len(latest)  # what works again is not
        if is_broken and any(_is_unusual(failed, min(stretch, fresh)) for stretch in STRETCHES):
            yield sum(latest) / len(latest)


def _is_unusual(failed: Sequence[bool], stretch: int) -> bool:
    """Whether the last uses of a capability failed far more often than those before them."""
    before, recent = failed[: len(failed) - stretch], failed[len(failed) - stretch :]
    expected = (sum(before) + CERTAINTY * USUAL) / (len(before) + CERTAINTY)
    return at_least(sum(recent), stretch, expected) < CHANCE_OF_ONE if any(recent) else False


def _share(worked: Sequence[bool]) -> float:
    """How often something fails, as what was seen of it says; never quite never."""
    return (sum(not ok for ok in worked) + 1) / (len(worked) + 2)


def at_least(events: int, trials: int, rate: float) -> float:
    """How likely it is that something of this rate happens so often, or more often."""
    return math.fsum(
        math.comb(trials, n) * rate**n * (1 - rate) ** (trials - n) for n in range(events, trials + 1)
    )
