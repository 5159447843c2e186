"""What the guard found in texts of this machine, and what of it a person has accepted.

Texts of servers are held back; cards, skills and manifests of one's own are only reported on. The journal
is the memory: each finding and each acceptance is for exactly one content of one capability, by its digest,
so that nothing is judged twice and an acceptance ends with the next change.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from prowess.catalogue.quarantine import UNJUDGED
from prowess.catalogue.stored import several
from prowess.catalogue.view import View
from prowess.errors import FindingStands, NotFound
from prowess.guard.integrity import REINSTALL, fault
from prowess.journal import Journal
from prowess.journal.entries import GuardAccepted, GuardFound
from prowess.store.database import Transaction
from prowess.types import Capability, Draft, Problem

if TYPE_CHECKING:
    from prowess.guard.classifier import Classifier
    from prowess.guard.sanitise import Provenance

FOUND, ACCEPTED = GuardFound.type, GuardAccepted.type

MOST_JUDGED = 300
"""How many new texts one sync judges; the others wait for `prowess guard check --all`."""
REMEMBERED = 10_000


Judge = Callable[[Draft, bool, bool], str]
"""Why a text may not be shown, given whether it is of this machine and whether it was another before."""

Stands = Callable[[Capability], bool]
"""Whether what the guard finds in it may be accepted by nobody."""


def guard(classifier: "Classifier | None") -> Judge:
    """The guard as a sync asks it: quicker about the many fields of one's own schemas."""
    from prowess.guard.classifier import no_reader
    from prowess.guard.scan import unsafe

    broken = fault()
    quick = replace(classifier, reader=no_reader) if classifier else None

    def judge(draft: Draft, is_own: bool, changed: bool) -> str:
        if broken and not is_own:
            return f"{UNJUDGED}: {broken}"
        provenance: Provenance = "changed" if changed and not is_own else "unapproved"
        return unsafe(draft, classifier, quick if is_own else None, provenance, is_own)

    return judge


def note(journal: Journal, transaction: Transaction, found: Sequence[tuple[str, str, str]]) -> None:
    """Write down what speaks against texts of this machine: id, digest and reason of each."""
    for id, content, reason in found:
        journal.append(transaction, GuardFound(capability=id, digest=content, reason=reason))


def left_unjudged(own: int) -> tuple[Problem, ...]:
    """That a sync brought more texts of this machine than it judged, so that it ends in time."""
    if own <= MOST_JUDGED:
        return ()
    what = f"judged {MOST_JUDGED} of {own} new texts of this machine"
    return (Problem("guard", "sync", what, "for the others run: prowess guard check --all", "warning"),)


def standing(journal: Journal, view: View, stands: Stands) -> tuple[Problem, ...]:
    """Findings in content that is still there and that nobody has accepted."""
    found = {_key(data): data["reason"] for data in _said(journal, FOUND)}
    accepted = {_key(data) for data in _said(journal, ACCEPTED)}
    there = several(view.capabilities, {id for id, _ in found.keys() - accepted})
    return tuple(
        Problem("guard", id, reason, _remedy(there[id], stands), "warning")
        for (id, content), reason in found.items()
        if (id, content) not in accepted and id in there and there[id].digest == content
    )


def _remedy(capability: Capability, stands: Stands) -> str:
    refusal = FindingStands(capability.id, ())
    return refusal.remedy if stands(capability) else f"change it, or: prowess guard accept {capability.id}"


def broken_guard() -> tuple[Problem, ...]:
    """That the guard cannot judge, where it cannot."""
    what = fault()
    if not what:
        return ()
    return (Problem("guard", "model", f"{what}; what servers say anew is held back", REINSTALL),)


def finding(waiting: Sequence[Problem], id: str, rejected: Sequence[str]) -> Problem:
    """What a person would accept: what a sync found and, of a card, why no turn gets it."""
    by_id = {problem.place: problem for problem in waiting}
    if id not in by_id and not rejected:
        raise NotFound("finding", id, list(by_id), "see: prowess doctor")
    return by_id.get(id) or Problem("guard", id, "; ".join(rejected), "change it", "warning")


def _said(journal: Journal, type: str) -> list[dict[str, str]]:
    return [dict(entry.data) for entry in journal.latest(REMEMBERED, type=type)]


def _key(data: dict[str, str]) -> tuple[str, str]:
    return data["capability"], data["digest"]
