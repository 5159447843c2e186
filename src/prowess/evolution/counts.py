"""From journal entries to the counts that scores are computed from."""

from collections import Counter
from collections.abc import Iterable, Iterator

from prowess.evolution.fitness import Counts
from prowess.journal import Raw, read
from prowess.journal.entries import ApprovalAnswered, Decided, OutcomeRecorded
from prowess.types import JournalEntry


def count(entries: Iterable[JournalEntry]) -> Counts:
    """What an agent did, as these entries of its chain say.

    Every outcome is a request that was answered; a use that policy denied is one that was not. A
    person steps in where policy asks for one.
    """
    found = Counter(name for entry in entries for name in _counted(entry))
    return Counts(
        requests=found["requests"],
        responses=found["responses"],
        errors=found["errors"],
        permissions_requested=found["permissions_requested"],
        permissions_approved=found["permissions_approved"],
        human_interventions=found["human_interventions"],
        safety_violations=found["safety_violations"],
    )


def _counted(entry: JournalEntry) -> Iterator[str]:
    match read(entry):
        case OutcomeRecorded(ok=ok):
            yield from ("requests", "responses")
            if not ok:
                yield "errors"
        case Decided(verdict="deny"):
            yield from ("requests", "permissions_requested")
        case Decided(verdict="ask"):
            yield from ("permissions_requested", "human_interventions")
        case ApprovalAnswered(state="approved"):
            yield "permissions_approved"
        case Raw(type="intervention"):
            yield "human_interventions"
        case Raw(type="violation"):
            yield "safety_violations"
