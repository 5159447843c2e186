"""One request from question to result, put together: what was offered, called, decided, answered and learnt.

Above: the operations on the journal. Below: the turn log, the journal, approvals, lessons.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prowess.journal import JournalPosition, JournalSearch, read
from prowess.journal.entries import Called, Decided, Offered, OutcomeRecorded, Searched
from prowess.learning import lessons as lessons
from prowess.learning.paraphrases import alike
from prowess.policy.approvals import Approval
from prowess.types import JournalEntry, Offer

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

MAX_DECISIONS = 500
MAX_LESSONS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionStep:
    """What policy said to one call."""

    at: str
    capability: str
    verdict: str
    reason: str
    watched: str = ""
    """What rules that are only watched would have said, where that differs."""
    approval: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStep:
    """One call, or what a host program said of one that it made."""

    at: str
    capability: str
    ending: str
    detail: str = ""
    milliseconds: float | None = None
    by_host: bool = False
    arguments: str = ""
    """JSON without credentials; empty where it is not kept."""
    result: str = ""
    decisions: tuple[DecisionStep, ...] = ()
    approvals: tuple[Approval, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonSeen:
    """What use has shown for requests like this one."""

    id: str
    method: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestReport:
    id: str
    agent: str
    at: str
    text: str
    """What was asked."""
    is_search: bool
    mode: str = ""
    tokens: int = 0
    milliseconds: float = 0.0
    """How long its calls took together."""
    policy_revision: str = ""
    catalogue_version: int = 0
    offer: Offer | None = None
    """As the model saw it; nothing where that is not kept (any more)."""
    answers: tuple[str, ...] = ()
    """What was kept of answers to searches."""
    searches: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What the model searched for, and what it was shown."""
    calls: tuple[CallStep, ...] = ()
    learnt: tuple[LessonSeen, ...] = ()
    entries: tuple[JournalEntry, ...] = ()
    follows: str = ""
    """The request before it in the conversation."""
    figures: Mapping[str, int] = field(default_factory=dict)
    """Ending -> how many calls ended so."""


def request_report(inner: "Internals", id: str) -> RequestReport:
    """Everything that is known of an offer or of a search through the gateway."""
    trace = inner.log.trace(id)
    opening = _opening(trace.entries)
    calls = _calls(inner, trace.entries, trace.payloads)
    used = {step.capability for step in calls if step.ending == "ok"}
    text = _text(opening)
    answers = {one.shown for one in map(read, trace.entries) if isinstance(one, Searched)}
    offered = opening if isinstance(opening, Offered) else Offered(offer=id)
    endings = [step.ending for step in calls]
    return RequestReport(
        id=id,
        agent=trace.entries[0].chain,
        at=trace.entries[0].at,
        text=text,
        is_search=isinstance(opening, Searched),
        mode=offered.mode if isinstance(opening, Offered) else "",
        tokens=offered.tokens,
        milliseconds=sum(step.milliseconds or 0.0 for step in calls),
        policy_revision=offered.policy_revision,
        catalogue_version=offered.catalogue_version,
        offer=trace.offer,
        answers=tuple(kept for digest, kept in trace.payloads.items() if digest in answers),
        searches=tuple(
            (one.query, tuple(one.hits)) for one in map(read, trace.entries) if isinstance(one, Searched)
        ),
        calls=calls,
        learnt=_learnt(inner, text, used),
        entries=trace.entries,
        follows=opening.follows if isinstance(opening, Searched) else "",
        figures={ending: endings.count(ending) for ending in dict.fromkeys(endings)},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBehind:
    """The request that led to a question for a person."""

    id: str
    text: str


def request_behind(inner: "Internals", approval: Approval) -> RequestBehind | None:
    """What an agent was asked for when it wanted what waits for a person; nothing where no call says so."""
    journal, since = inner.history, approval.asked_at
    named = JournalSearch(text=approval.id, since=since)
    decided = [read(one) for one in journal.latest(20, approval.agent, Decided.type, None, named)]
    for decision in decided:
        if not isinstance(decision, Decided) or not decision.call:
            continue
        of_call = JournalSearch(text=decision.call, since=since)
        for stored in journal.latest(3, approval.agent, Called.type, None, of_call):
            id = read(stored).trace
            if id and (entries := journal.trace(id)):
                return RequestBehind(id=id, text=_text(_opening(entries)))
    return None


def _opening(entries: Iterable[JournalEntry]) -> Offered | Searched | None:
    """What began a request; the cards of a turn are written down before its offer."""
    return next((one for one in map(read, entries) if isinstance(one, Offered | Searched)), None)


def _text(opening: Offered | Searched | None) -> str:
    if isinstance(opening, Offered):
        return opening.request
    return opening.query if isinstance(opening, Searched) else ""


def _calls(
    inner: "Internals", entries: tuple[JournalEntry, ...], kept: Mapping[str, str]
) -> tuple[CallStep, ...]:
    stored = [(one, read(one)) for one in entries]
    made = [(one, entry) for one, entry in stored if isinstance(entry, Called)]
    decided = _decisions(inner, entries, made[-1][0]) if made else {}
    approvals = {one.id: one for one in inner.policy.approvals(True)} if decided else {}
    steps = []
    for one, entry in stored:
        if isinstance(entry, Called):
            said = decided.get(entry.call, []) or _said_at_once(one, entry)
            steps.append(
                CallStep(
                    at=one.at, capability=entry.capability, ending=entry.outcome, detail=entry.detail,
                    milliseconds=entry.milliseconds, arguments=kept.get(entry.arguments, ""),
                    result=kept.get(entry.result, ""), decisions=tuple(said),
                    approvals=tuple(
                        approvals[step.approval] for step in said if step.approval in approvals
                    ),
                )
            )  # fmt: skip
        elif isinstance(entry, OutcomeRecorded) and not entry.key:
            steps.append(
                CallStep(
                    at=one.at, capability=entry.capability, ending="ok" if entry.ok else "failed",
                    detail=entry.detail, milliseconds=entry.milliseconds, by_host=True,
                )
            )  # fmt: skip
    return tuple(steps)


def _said_at_once(stored: JournalEntry, entry: Called) -> list[DecisionStep]:
    """What was denied before anything was asked for is decided by its call alone."""
    if entry.decision in ("", "allow"):
        return []
    return [
        DecisionStep(at=stored.at, capability=entry.capability, verdict=entry.decision, reason=entry.detail)
    ]


def _decisions(
    inner: "Internals", entries: tuple[JournalEntry, ...], last: JournalEntry
) -> Mapping[str, list[DecisionStep]]:
    """Call -> what policy said to it; a call is written down after its decisions."""
    place = JournalPosition(last.at, last.chain, last.number)
    found: dict[str, list[DecisionStep]] = {}
    since = JournalSearch(since=entries[0].at)
    for stored in inner.history.latest(MAX_DECISIONS, last.chain, Decided.type, place, since):
        entry = read(stored)
        if isinstance(entry, Decided) and entry.call:
            step = DecisionStep(
                at=stored.at, capability=entry.capability, verdict=entry.verdict, reason=entry.reason,
                watched=entry.shadow, approval=entry.approval,
            )  # fmt: skip
            found.setdefault(entry.call, []).append(step)
    return found


def _learnt(inner: "Internals", text: str, used: Iterable[str]) -> tuple[LessonSeen, ...]:
    """The lessons of what worked here that gathered from requests like this one."""
    methods = set(used)
    if not methods or not text or inner.options.learning.mode == "off":
        return ()
    with inner.database.reading() as transaction:
        known = [one for one in lessons.every(transaction) if {one.method, *one.steps} & methods]
    fitting = [one for one in known if any(alike(text, span) for span in one.spans)]
    return tuple(LessonSeen(id=one.id, method=one.method, status=one.status) for one in fitting[:MAX_LESSONS])
