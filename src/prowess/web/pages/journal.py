"""The page `journal`: what happened, as it happens, filtered, exported, and whether the record is intact."""

from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.engine.namespaces.journal import JournalHistory
from prowess.errors import JournalBroken
from prowess.journal import JournalPosition, read
from prowess.operations.journal import Traced, list_heads
from prowess.operations.journal import trace as show_trace
from prowess.operations.operation import NO_PARAMS
from prowess.text.redaction import redacted
from prowess.types import Head, JournalEntry, Json
from prowess.web import identity, page
from prowess.web.pages.form import backend
from prowess.web.pages.pagination import before, newest, older
from prowess.web.redact import plain

SIZE = 50
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
    data: Json
    trace: str
    """The request it belongs to, where it belongs to one."""


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
    entries = tuple(reversed(engine.journal.latest(SIZE, agent, type or "*", place)))
    heads = local.call(list_heads, NO_PARAMS)
    filters = urlencode({"type": type or "*"} | ({} if agent is None else {"agent": agent}))
    return page.render(
        request,
        "journal_part.html" if page.wants_part(request) else "journal.html",
        title="Journal",
        lines=[_line(entry) for entry in entries],
        filtered=bool(type) or agent is not None,
        chains=[head.chain for head in heads if head.chain][:MOST_CHAINS],
        asked=asked,
        type=type,
        families=FAMILIES,
        live="" if place else f"/api/v1/journal/stream?{filters}",
        export=f"/api/v1/journal/export?{filters}",
        newest=newest(request) if place else "",
        older=older(request, _place(entries[-1])) if len(entries) == SIZE else "",
        total=sum(head.count for head in heads),
        easily=sum(head.count for head in heads) <= EASILY_VERIFIED,
        found=verification(engine.journal) if "verify" in request.query_params else None,
    )


def traced(request: Request) -> Response:
    """One request as one page: what the model saw, why, and what came of it."""
    trace = backend(request).call(show_trace, Traced(id=request.query_params.get("id", "")))
    asked = [str(entry.data.get("request") or entry.data.get("query") or "") for entry in trace.entries]
    return page.render(
        request,
        "trace.html",
        title="Request",
        trace=trace,
        asked=plain(redacted(next((text for text in asked if text), ""))),
        kept=[(digest, plain(text)) for digest, text in trace.payloads.items()],
        lines=[_line(entry) for entry in trace.entries],
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


def _place(entry: JournalEntry) -> JournalPosition:
    return JournalPosition(entry.at, entry.chain, entry.number)


def _line(entry: JournalEntry) -> JournalLine:
    data = _safe(entry.data)
    return JournalLine(entry, _brief(data), data, read(entry).trace)


def _safe(data: Json, key: str = "") -> Json:
    if isinstance(data, dict):
        return {plain(name): _safe(value, name) for name, value in data.items()}
    if isinstance(data, list):
        return [_safe(value, key) for value in data]
    if isinstance(data, str):
        return plain(redacted(data) if key in SAID else data)
    return data


def _brief(data: Json) -> str:
    """The most telling words of an entry, on one line."""
    shown = (name for name in data if name not in PLUMBING)
    names = sorted(shown, key=lambda name: TELLING.get(name, len(TELLING)))
    said = [f"{name} {_short(data[name])}" for name in names if data[name] not in ("", None, [], {})]
    text = ", ".join(said).replace("\n", " ")
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
