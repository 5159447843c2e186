"""What came of each need of a request, from what was offered and what was tried. Pure.

The order in which attempts were reported does not matter, nor how often: one success satisfies a need.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from prowess.learning.evidence import EvidenceTrail, NeedStatus, SolutionEvidence
from prowess.learning.ids import stable_id
from prowess.learning.paraphrases import alike
from prowess.learning.usage_entries import Need

NOTHING_MATCHES = "nothing matches"
NOTHING_USED = "something was offered, but nothing of it was used"
TRIED_AND_FAILED = " was tried and failed"
TO_BE_USED = "something was offered, and nothing was reported yet"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A capability that was tried, or refused, for an offer; `at` is when it first succeeded or was tried."""

    capability: str
    ok: bool
    denied: str
    detail: str
    at: str
    asked: str = ""
    """The search through which it came, where that was made within the request."""


@dataclass(frozen=True, slots=True)
class SettledNeed:
    """A need and what came of it, with the attempts that were made for it."""

    need: Need
    status: NeedStatus
    method: str
    reason: str
    attempts: tuple[Attempt, ...]


def settled(needs: Sequence[Need], attempts: Sequence[Attempt], abandoned: bool) -> tuple[SettledNeed, ...]:
    """Each need with what was tried for it."""
    owned: list[list[Attempt]] = [[] for _ in needs]
    for attempt in sorted(attempts, key=lambda a: (a.at, a.capability)):
        owned[_owner(needs, attempt)].append(attempt)
    return tuple(_settled(need, tuple(own), abandoned) for need, own in zip(needs, owned, strict=True))


def _owner(needs: Sequence[Need], attempt: Attempt) -> int:
    """The need that was offered it, else the one searched for, else the one it came near, else the first."""
    offered = (n for n, need in enumerate(needs) if attempt.capability in need.routes)
    searched = (n for n, need in enumerate(needs) if attempt.asked and alike(need.span, attempt.asked))
    near = (n for n, need in enumerate(needs) if attempt.capability in need.weak)
    return next(chain(offered, searched, near), 0)


def _settled(need: Need, attempts: tuple[Attempt, ...], abandoned: bool) -> SettledNeed:
    worked = next((a for a in attempts if a.ok), None)
    if worked is not None:
        return SettledNeed(need, "satisfied", worked.capability, "", attempts)
    failed = next((a for a in attempts if not a.denied), None)
    if failed is not None:
        why = f"{failed.capability}{TRIED_AND_FAILED}" + (f": {failed.detail}" if failed.detail else "")
        return SettledNeed(need, "blocked", failed.capability, why, attempts)
    if attempts:
        verdict, _, reason = attempts[0].denied.partition(": ")
        asked = verdict == "ask"
        why = f"{attempts[0].capability} {'waits for a person' if asked else 'is denied'}: {reason}"
        return SettledNeed(need, "deferred" if asked else "blocked", attempts[0].capability, why, attempts)
    if not need.routes:
        return SettledNeed(need, "blocked", "", NOTHING_MATCHES, ())
    status: NeedStatus = "deferred" if abandoned else "pending"
    return SettledNeed(need, status, need.routes[0], NOTHING_USED if abandoned else TO_BE_USED, ())


def steps_of(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """What answered one request, in order, where it took more than one capability."""
    worked = sorted((a.at, a.capability) for a in attempts if a.ok)
    return tuple(capability for _, capability in worked) if len(worked) > 1 else ()


def evidence_of(offer: str, needs: Sequence[SettledNeed]) -> SolutionEvidence:
    """The same as evidence of one request, for its ledger."""
    frame = stable_id("problem_frame", offer)
    trails = (_trail(frame, offer, number, need) for number, need in enumerate(needs))
    return SolutionEvidence(frame, tuple(trails))


def _trail(frame: str, offer: str, number: int, each: SettledNeed) -> EvidenceTrail:
    return EvidenceTrail(
        need_id=stable_id("problem_need", f"{frame}:{number}:{each.need.span}"),
        source_span=each.need.span,
        work_unit_id=stable_id("work_unit", f"{offer}:{number}"),
        status=each.status,
        route=each.method or None,
        method=each.method or None,
        connected=each.status != "pending",
    )
