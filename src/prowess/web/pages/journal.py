"""The page `journal`: what happened, as it happens, filtered, exported, and whether the record is intact."""

from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.engine.namespaces.journal import JournalHistory
from prowess.errors import JournalBroken
from prowess.journal import JournalPosition, read, stamp
from prowess.operations.journal import Entries, list_entries, list_heads, show_request
from prowess.operations.operation import NO_PARAMS
from prowess.operations.paging import cursor_of, key_of
from prowess.text.redaction import redacted
from prowess.types import Head, JournalEntry, Json
from prowess.web import identity, page
from prowess.web.journal_words import in_words
from prowess.web.pages.endings import ANSWERS_IN_WORDS, ENDINGS, SCOPES_IN_WORDS, VERDICTS
from prowess.web.pages.form import backend
from prowess.web.pages.pagination import before, newest, older
from prowess.web.redact import plain

SIZE = 50
MAX_WORDS = 200
LOOKED_THROUGH = 200_000
"""So many entries are searched at once; the next page goes on behind them."""
MAX_LISTED = 100
PERIODS = {
    "the last hour": timedelta(hours=1),
    "the last day": timedelta(days=1),
    "the last 7 days": timedelta(days=7),
    "the last 30 days": timedelta(days=30),
}
ANYBODY = "*"
EASILY_VERIFIED = 20_000
"""A journal of so many entries is walked whenever somebody looks; a longer one when they ask."""
MOST_CHAINS = 500
SAID = frozenset({"request", "detail", "note", "error", "reason"})
"""What people and models wrote into an entry: it may hold a secret, which the page takes out."""
FAMILIES = (
    *("offer", "outcome", "decision", "catalogue.synced", "policy.shifted", "approval.*", "quarantine.*"),
    *("provider.*", "agent.*", "cards.*", "skill.*", "curriculum.*", "evolution.*", "Evolution*"),
)
LONGEST_BRIEF = 140
FIRST = (
    "request",
    "capability",
    "skill",
    "provider",
    "profile",
    "trigger",
    "verdict",
    "state",
    "ok",
    "reason",
)
TELLING = {name: place for place, name in enumerate(FIRST)}
"""What stands first in the summary of an entry."""
PLUMBING = {
    *("offer", "selection", "counter", "catalogue_version", "policy_revision", "revision", "digest", "key"),
    *("pass", "expires_at"),
}
"""What only the whole entry shows."""


@dataclass(frozen=True, slots=True)
class JournalLine:
    entry: JournalEntry
    brief: str
    trace: str
    """The request it belongs to, where it belongs to one."""

    @property
    def data(self) -> Json:
        """The whole entry; a sync may name ten thousand things, so it is made where it is shown."""
        return _safe(self.entry.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What walking every chain to its end found."""

    heads: tuple[Head, ...]
    broken: JournalBroken | None = None

    @property
    def entries(self) -> int:
        return sum(head.count for head in self.heads)


def listed(request: Request) -> Response:
    local = backend(request)
    engine, asked = local.engine, request.query_params.get("agent", ANYBODY)
    type = request.query_params.get("type", "").strip()
    agent = None if asked == ANYBODY else asked
    place = before(request)
    words, period = request.query_params.get("q", "").strip()[:MAX_WORDS], _period(request)
    wrong = "wrong" in request.query_params
    since = stamp(request.app.state.clock() - PERIODS[period]) if period else ""
    asked_for = Entries(
        agent=agent, type=type or "*", text=words, since=since, wrong=wrong, limit=SIZE,
        most=LOOKED_THROUGH if words or wrong else 0, cursor=cursor_of(tuple(place)) if place else "",
    )  # fmt: skip
    found = local.call(list_entries, asked_for)
    entries = found.items
    heads = local.call(list_heads, NO_PARAMS)
    filters = urlencode({"type": type or "*"} | ({} if agent is None else {"agent": agent}))
    return page.render(
        request,
        "journal_part.html" if page.wants_part(request) else "journal.html",
        title="Journal",
        lines=[journal_line(entry) for entry in entries],
        filtered=bool(type or words or wrong or period) or agent is not None,
        words=words,
        wrong=wrong,
        period=period,
        periods=tuple(PERIODS),
        chains=[head.chain for head in heads if head.chain][:MOST_CHAINS],
        asked=asked,
        type=type,
        families=FAMILIES,
        live="" if place or words or wrong or period else f"/api/v1/journal/stream?{filters}",
        export=f"/api/v1/journal/export?{filters}",
        newest=newest(request) if place else "",
        older=older(request, key_of(found.next, JournalPosition)) if found.next else "",
        total=sum(head.count for head in heads),
        easily=sum(head.count for head in heads) <= EASILY_VERIFIED,
        found=verification(engine.journal) if "verify" in request.query_params else None,
    )


def traced(request: Request) -> Response:
    """One request as one page: what the model saw, why, and what came of it."""
    report = backend(request).call(show_request, NO_PARAMS, id=request.query_params.get("id", ""))
    return page.render(
        request,
        "trace.html",
        title="Search" if report.is_search else "Request",
        trace=report,
        asked=plain(redacted(report.text)),
        tones=ENDINGS,
        verdicts=VERDICTS,
        scopes=SCOPES_IN_WORDS,
        answers=ANSWERS_IN_WORDS,
        lines=[journal_line(entry) for entry in report.entries],
        newest="",
        older="",
    )


def verified(request: Request) -> Response:
    """The part of the page that says whether the record is intact."""
    identity.person(request)
    found = verification(request.app.state.engine.journal)
    return page.render(request, "verification_part.html", found=found)


def verification(journal: JournalHistory) -> Verification:
    try:
        return Verification(heads=journal.verify())
    except JournalBroken as broken:
        return Verification(heads=journal.heads(), broken=broken)


def _period(request: Request) -> str:
    said = request.query_params.get("period", "")
    return said if said in PERIODS else ""


def journal_line(entry: JournalEntry) -> JournalLine:
    """An entry as a row: in words, with what looks like a secret taken out."""
    said = plain(redacted(in_words(entry.type, entry.data))) or _brief(entry.data)
    return JournalLine(entry, said, read(entry).trace)


def _safe(data: Json, key: str = "") -> Json:
    if isinstance(data, dict):
        return {plain(name): _safe(value, name) for name, value in data.items()}
    if isinstance(data, list):
        rest = [f"and {len(data) - MAX_LISTED} more"] if len(data) > MAX_LISTED else []
        return [_safe(value, key) for value in data[:MAX_LISTED]] + rest
    if isinstance(data, str):
        return plain(redacted(data) if key in SAID else data)
    return data


def _brief(data: Json) -> str:
    """The most telling words of an entry, on one line."""
    shown = (name for name in data if name not in PLUMBING)
    names = sorted(shown, key=lambda name: TELLING.get(name, len(TELLING)))
    said = [f"{name} {_short(data[name])}" for name in names if data[name] not in ("", None, [], {})]
    text = plain(redacted(", ".join(said).replace("\n", " ")))  # whole, so that no cut hides a secret's form
    return text if len(text) <= LONGEST_BRIEF else f"{text[: LONGEST_BRIEF - 1]}…"


def _short(value: Json) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return f"({len(value)})" if isinstance(value, dict | list) else str(value)


ROUTES = (
    Route("/journal", listed),
    Route("/journal/trace", traced),
    Route("/journal/verification", verified),
)
