"""The page `overview`: what there is, what happened lately, and what waits for a person."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.engine.engine import Engine
from prowess.engine.server_reports import server_reports
from prowess.operations.agents import list_agents
from prowess.operations.approvals import Every, list_approvals
from prowess.operations.catalogue import doctor
from prowess.operations.operation import NO_PARAMS
from prowess.operations.quarantine import list_held
from prowess.web import identity, page
from prowess.web.pages.form import backend
from prowess.web.pages.journal import journal_line
from prowess.web.pages.servers import TONES

HOUR = timedelta(hours=1)
SERIES = {"Offers": "offer", "Calls": "outcome"}
LATEST = 8
OFFERS_COUNTED = 500


class ChartWindow(NamedTuple):
    """How far a chart looks back, and how much time one point of it stands for."""

    name: str
    back: timedelta
    step: timedelta


WINDOWS = {
    "day": ChartWindow("24 hours", timedelta(days=1), HOUR),
    "week": ChartWindow("7 days", timedelta(days=7), 6 * HOUR),
    "month": ChartWindow("30 days", timedelta(days=30), 24 * HOUR),
}


@dataclass(frozen=True, slots=True)
class Saving:
    """What offers cost, beside what it would have cost to show every agent everything it may use."""

    offers: int
    spent: int
    everything: int

    @property
    def saved(self) -> int:
        return max(0, self.everything - self.spent)

    @property
    def share(self) -> float:
        return self.saved / self.everything if self.everything else 0.0


def overview(request: Request) -> Response:
    local = backend(request)
    engine = local.engine
    view = engine.catalogue.view()
    chosen = request.query_params.get("window", "")
    window = WINDOWS.get(chosen, WINDOWS["week"])
    held = [one for one in local.call(list_held, NO_PARAMS) if one.state == "waiting"]
    return page.render(
        request,
        "overview.html",
        title="Overview",
        kinds=Counter(c.kind for c in view.capabilities.values()).most_common(),
        total=len(view.capabilities),
        available=sum(c.available for c in view.active("").values()),
        servers=server_reports(engine.internals, 0),
        tones=TONES,
        window=window,
        windows=WINDOWS,
        held=held,
        stopped=engine.evolution.all_stopped(),
        approvals=local.call(list_approvals, Every()),
        agents=local.call(list_agents, NO_PARAMS),
        latest=[journal_line(entry) for entry in reversed(engine.journal.latest(LATEST))],
        **_activity(engine, window, request.app.state.clock()),
    )


def problems(request: Request) -> Response:
    """What `prowess doctor` says; it reads the whole journal, so the page asks for it afterwards."""
    found = backend(request).call(doctor, NO_PARAMS)
    template = "problems_part.html" if page.wants_part(request) else "problems.html"
    return page.render(request, template, title="Problems", under="/", problems=found.problems)


def saving(request: Request) -> Response:
    """What offers saved; to know what everything costs, every text is read once."""
    identity.person(request)
    engine: Engine = request.app.state.engine
    template = "saving_part.html" if page.wants_part(request) else "saving.html"
    found = _saving(engine, _costs(request))
    return page.render(request, template, title="Tokens saved", under="/", saving=found)


def _activity(engine: Engine, window: ChartWindow, now: datetime) -> dict[str, Any]:
    """How much happened in each step of the window, also where nothing did."""
    step = int(window.step.total_seconds())
    last = int(now.timestamp()) // step * step
    times = list(range(last - int(window.back.total_seconds()) + step, last + step, step))
    since = datetime.fromtimestamp(times[0], UTC)
    counts = [
        _stepped(engine.journal.per_hour(type, since), times, step) for type in SERIES.values()
    ]  # fmt: skip
    totals = dict(zip(SERIES, map(sum, counts), strict=True))
    return {"names": list(SERIES), "times": times, "series": counts, "totals": totals}


def _stepped(hours: Mapping[str, int], times: list[int], step: int) -> list[int]:
    found = dict.fromkeys(times, 0)
    for hour, count in hours.items():
        second = int(datetime.fromisoformat(f"{hour}:00+00:00").timestamp())
        at = second // step * step
        if at in found:
            found[at] += count
    return list(found.values())


def _costs(request: Request) -> dict[tuple[int, str, str], int]:
    """What everything costs each agent, kept while neither catalogue nor policy changes."""
    state = request.app.state
    if not hasattr(state, "costs_of_everything"):
        state.costs_of_everything = {}
    known: dict[tuple[int, str, str], int] = state.costs_of_everything
    return known


def _saving(engine: Engine, known: dict[tuple[int, str, str], int]) -> Saving:
    offers = engine.journal.latest(OFFERS_COUNTED, type="offer")
    everything = 0
    for agent, count in Counter(entry.chain for entry in offers).items():
        key = (engine.catalogue.view().version, engine.internals.policy.state, agent)
        if key not in known:
            known[key] = engine.catalogue.cost_of_everything(agent)
        everything += count * known[key]
    return Saving(len(offers), sum(int(entry.data.get("tokens", 0)) for entry in offers), everything)


ROUTES = (
    Route("/", overview),
    Route("/overview/problems", problems),
    Route("/overview/saving", saving),
)
