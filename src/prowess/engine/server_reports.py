"""What a person wants to know of each server: whether it works, what keeps it from it, and how it is used.

Above: the operations on servers, the overview. Below: the catalogue, its health, the secrets, the journal.
"A server" is any provider: an MCP server, an API, a module, a folder.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from prowess.catalogue.health import Observation, observations
from prowess.catalogue.stored import several
from prowess.catalogue.view import View
from prowess.engine.listing import CatalogueListing, ListingFilter, each, field_of, listing
from prowess.engine.needed_secrets import secret_statuses
from prowess.engine.use_figures import RecordedUse, UseFigures, figures, recorded_uses
from prowess.sources.mcp.source import McpSource
from prowess.sources.source import Source
from prowess.types import Capability, Problem, Provider

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

MAX_USES = 5_000
"""So many of the latest calls are counted."""
MAX_TOOLS = 5_000
"""So many of one server are shown one by one."""

T = TypeVar("T")
ServerState: TypeAlias = Literal["on", "partly", "down", "off", "not read"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReport:
    name: str
    source: str
    """The source in prowess.toml that brings it."""
    kind: str
    description: str
    state: ServerState
    why: str
    """What keeps it, or some of it, from being used."""
    capabilities: int
    unavailable: int
    held: int
    """How many wait in quarantine."""
    missing_secrets: tuple[str, ...]
    reaches: str
    """What it may reach, where that is known."""
    readable: bool
    """Whether its source is configured here, so that a sync reads it."""
    use: UseFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReport:
    """One thing that a server brings."""

    capability: Capability
    held: bool
    use: UseFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDetail:
    report: ServerReport
    tools: tuple[ToolReport, ...]
    """The most used first."""
    problems: tuple[Problem, ...]
    seen: tuple[Observation, ...]
    """What each process saw that read its source, the latest first."""
    recent: tuple[RecordedUse, ...]
    output: str
    """The end of what it wrote to standard error, as far as this process has seen it."""
    may_log_in: bool
    """Whether a login can be shown to it: it is called at an address, without a header for that."""
    can_be_changed: bool
    """Whether its source stands in a prowess.toml that this process may write."""


def server_reports(inner: "Internals", most: int = MAX_USES) -> tuple[ServerReport, ...]:
    """Every server, those with something wrong first.

    most: so many of the latest calls are counted; 0 for none.
    """
    view = inner.world().view
    uses = recorded_uses(inner.history, most) if most else ()
    return _reports(inner, view, uses)


def server_detail(inner: "Internals", name: str) -> ServerDetail | None:
    """One server with its tools, or nothing where there is none of that name."""
    view = inner.world().view
    uses = recorded_uses(inner.history, MAX_USES)
    report = next((one for one in _reports(inner, view, uses) if one.name == name), None)
    if report is None:
        return None
    brought = each(listing(inner, view), ListingFilter(server=name))
    own = {c.id: c for c in islice(brought, MAX_TOOLS)}
    source = next((one for one in inner.sources.current if one.name == report.source), None)
    by_tool = _grouped((one.capability, one) for one in uses if one.capability in own)
    tools = [
        ToolReport(capability=c, held=c.id in view.quarantined, use=figures(by_tool.get(c.id, ())))
        for c in own.values()
    ]
    with inner.database.reading() as transaction:
        seen = [one for one in observations(transaction) if one.source == report.source]
    return ServerDetail(
        report=report,
        tools=tuple(sorted(tools, key=lambda one: (-one.use.calls, one.capability.id))),
        problems=tuple(p for p in inner.catalogue.problems(view) if p.source == report.source),
        seen=tuple(sorted(seen, key=lambda one: one.at, reverse=True)),
        recent=tuple(one for one in uses if one.capability in own)[:20],
        output=inner.output_of(report.source),
        may_log_in=_may_log_in(source),
        can_be_changed=inner.project is not None and report.kind in ("mcp", "openapi"),
    )


def _reports(inner: "Internals", view: View, uses: Sequence[RecordedUse]) -> tuple[ServerReport, ...]:
    sources = {source.name: source for source in inner.sources.current}
    there = listing(inner, view)
    own, needs = _owned(view, there, sources), there.secrets()
    server_of = _servers_of(view, {one.capability for one in uses})
    used = _grouped((server_of[one.capability], one) for one in uses if one.capability in server_of)
    secrets = secret_statuses(needs, tuple(sources.values()), inner.environment)
    missing = [one.name for one in secrets if one.is_missing]
    needed_by: dict[str, set[str]] = {}
    for one in needs:
        needed_by.setdefault(one.server, set()).add(one.name)
    found = []
    for name, brought in own.items():
        provider = view.providers.get(name) or Provider(name=name, source=brought.source or name)
        source = sources.get(provider.source)
        needed = needed_by.get(name, set())
        needed |= set(source.address.variables) if isinstance(source, McpSource) else set()
        lacking = tuple(secret for secret in missing if secret in needed)
        found.append(_report(view, provider, brought, source, lacking, figures(used.get(name, ()))))
    order = ("down", "partly", "not read", "on", "off")
    return tuple(sorted(found, key=lambda one: (order.index(one.state), -one.capabilities, one.name)))


@dataclass(frozen=True, slots=True)
class ServerContent:
    """How much a server brings."""

    source: str = ""
    count: int = 0
    unavailable: int = 0
    why: str = ""
    """The reason of most of what cannot be used."""
    held: int = 0


def _owned(view: View, there: CatalogueListing, sources: Iterable[str]) -> Mapping[str, ServerContent]:
    """Server -> what it brings; a source that brought nothing so far stands for itself."""
    unusable, held = there.unusable(), Counter(_servers_of(view, view.quarantined.keys()).values())
    reasons: dict[str, tuple[int, str]] = {}
    for (name, why), count in (there.unavailable() if unusable else {}).items():
        if count > reasons.get(name, (0, ""))[0]:
            reasons[name] = count, why
    own: dict[str, ServerContent] = {name: ServerContent() for name in view.providers}
    for (name, source), count in there.counts("server", "source").items():
        before = own.get(name, ServerContent())
        why = reasons.get(name, (0, ""))[1]
        own[name] = ServerContent(
            before.source or source, before.count + count, unusable.get(name, 0), why, held[name]
        )
    served = {one.source for one in view.providers.values()}
    served |= {source for (source,) in there.counts("source")}
    return own | {source: ServerContent() for source in sources if source not in served}


def _servers_of(view: View, ids: Collection[str]) -> Mapping[str, str]:
    return {id: field_of(c, "server") for id, c in several(view.capabilities, ids).items()}


def _report(
    view: View,
    provider: Provider,
    brought: ServerContent,
    source: Source | None,
    lacking: tuple[str, ...],
    use: UseFigures,
) -> ServerReport:
    name = provider.name
    off = (view.why_off(name, "") or "switched off") if view.off(name, "") else ""
    is_known = name in view.providers or bool(brought.count)
    return ServerReport(
        name=name,
        source=provider.source,
        kind=source.kind if source else "",
        description=provider.description,
        state=_state(off, provider.down, is_known, bool(brought.unavailable or lacking)),
        why=off or provider.down or _why(lacking, brought),
        capabilities=brought.count,
        unavailable=brought.unavailable,
        held=brought.held,
        missing_secrets=lacking,
        reaches=source.reach if isinstance(source, McpSource) else "",
        readable=source is not None,
        use=use,
    )


def _may_log_in(source: Source | None) -> bool:
    if not isinstance(source, McpSource) or not source.url:
        return False
    return not any(header.lower() == "authorization" for header in source.headers)


def _state(off: str, down: str, known: bool, partly: bool) -> ServerState:
    if off:
        return "off"
    if down:
        return "down"
    if not known:
        return "not read"
    return "partly" if partly else "on"


def _why(lacking: Sequence[str], brought: ServerContent) -> str:
    if lacking:
        return f"{', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} not set"
    return brought.why


def _grouped(pairs: Iterable[tuple[str, T]]) -> Mapping[str, list[T]]:
    found: dict[str, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
