"""The page `welcome`: from a new install to the first offer, step by step, in a browser alone."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.engine.listing import ListingFilter, listing
from prowess.engine.server_reports import server_reports
from prowess.operations.agents import list_agents
from prowess.operations.operation import NO_PARAMS
from prowess.types import DEFAULT_AGENT
from prowess.web import page
from prowess.web.pages.form import backend

EXAMPLES = 3
LOOKED_THROUGH = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an install has come."""

    servers: int
    down: tuple[str, ...]
    """Servers that do not work yet."""
    missing: tuple[str, ...]
    """Secrets that are not set."""
    usable: int
    """How much the default agent may use now."""
    capabilities: int
    held: int
    offers: bool
    """Whether anybody was made an offer."""
    agents: int

    @property
    def is_done(self) -> bool:
        return bool(self.usable and self.offers)


def shown(request: Request) -> Response:
    local = backend(request)
    engine = local.engine
    view = engine.catalogue.view()
    reports = server_reports(engine.internals, 0)
    usable = listing(engine.internals, engine.catalogue.visible(DEFAULT_AGENT))
    progress = Progress(
        servers=len(reports),
        down=tuple(one.name for one in reports if one.state == "down"),
        missing=tuple(dict.fromkeys(name for one in reports for name in one.missing_secrets)),
        usable=usable.count(),
        capabilities=len(view.capabilities),
        held=len(engine.quarantine.list()),
        offers=bool(engine.journal.latest(1, type="offer")),
        agents=len(local.call(list_agents, NO_PARAMS)),
    )
    tools = usable.page(ListingFilter(kind="tool"), most=LOOKED_THROUGH)
    examples = [one.description.split(".")[0][:100] for one in tools]
    return page.render(
        request, "welcome.html", title="Welcome", under="/", progress=progress, agent=DEFAULT_AGENT,
        examples=list(dict.fromkeys(filter(None, examples)))[:EXAMPLES],
        may_add=engine.internals.project is not None,
    )  # fmt: skip


ROUTES = (Route("/welcome", shown),)
