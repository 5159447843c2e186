"""The page `overview`: what there is, what happened lately, and what waits for a person."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from prowess.engine.engine import Engine
from prowess.engine.listing import ListingFilter, listing
from prowess.engine.server_reports import server_reports
from prowess.operations.agents import list_agents
from prowess.operations.approvals import Every, list_approvals
from prowess.operations.catalogue import doctor
from prowess.operations.operation import NO_PARAMS
from prowess.operations.quarantine import list_held
from prowess.operations.usage import OffersQuery, offers_series
from prowess.web import page
from prowess.web.pages.form import backend
from prowess.web.pages.journal import journal_line
from prowess.web.pages.servers import TONES

HOUR = timedelta(hours=1)
SERIES = {"Offers": "offer", "Calls": "outcome"}
LATEST = 8
MOST_SERVERS = 100
"""Those with something wrong come first; the page `servers` has all."""


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


def overview(request: Request) -> Response:
    local = backend(request)
    engine = local.engine
    there = listing(engine.internals, engine.catalogue.view())
    servers = server_reports(engine.internals, 0)
    chosen = request.query_params.get("window", "")
    window = WINDOWS.get(chosen, WINDOWS["week"])
    held = [one for one in local.call(list_held, NO_PARAMS) if one.state == "waiting"]
    return page.render(
        request,
        "overview.html",
        title="Overview",
        kinds=Counter({kind: count for (kind,), count in there.counts("kind").items()}).most_common(),
        total=there.count(),
        available=there.count(ListingFilter(state="available")),
        servers=servers[:MOST_SERVERS],
        all_servers=len(servers),
        down=sum(one.state == "down" for one in servers),
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
    """What offers saved in the last days; to know what everything costs, every text is read once."""
    if not page.wants_part(request):
        return RedirectResponse("/offers", 303)
    found = backend(request).call(offers_series, OffersQuery())
    return page.render(request, "saving_part.html", usage=found)


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


ROUTES = (
    Route("/", overview),
    Route("/overview/problems", problems),
    Route("/overview/saving", saving),
)
