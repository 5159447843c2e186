"""The page `evolution`: per agent, how good it was over time, what happened to it, and how to resume it."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.errors import NotFound
from prowess.evolution.encoding import params_data
from prowess.evolution.history import Fitness
from prowess.evolution.records import Generation
from prowess.evolution.scores import AXES
from prowess.operations import evolution as ops
from prowess.operations.agents import list_agents
from prowess.operations.backend import Local
from prowess.operations.operation import NO_PARAMS, AgentQuery
from prowess.types import JournalEntry
from prowess.web import page
from prowess.web.pages import generation
from prowess.web.pages.form import Fields, address, backend, form, said
from prowess.web.pages.pagination import paged

EVALUATIONS = 500
GENERATIONS = 500
ON_A_PAGE = 25
WARNING = "EvolutionWarning"
DONE = {
    "rolled-back": "{}. What it switched off stays off until somebody switches it on.",
    "accepted": "For {}, the likeliest cause is off now. The next evaluations show whether that helps.",
    "declined": "For {}, all stays as it is.",
    "resumed": "{} runs again. What was rolled back stays off until you switch it on.",
}
TREND_TONES = {"improving": "good", "declining": "bad", "stable": ""}


@dataclass(frozen=True, slots=True)
class Mark:
    """A generation on the chart: at which evaluation, what to write there, in which tone."""

    at: int
    text: str
    tone: str
    says: str


@dataclass(frozen=True, slots=True)
class Band:
    """A grace period on the chart, from one evaluation to another."""

    start: int
    end: int
    axis: str
    outcome: str


def listed(request: Request) -> Response:
    local = backend(request)
    engine, agents = local.engine, local.call(ops.list_evolved, NO_PARAMS)
    rows = paged(request, agents)
    return page.render(
        request,
        "evolution.html",
        title="Evolution",
        rows=rows,
        statuses=[engine.evolution.status(agent) for agent in rows.rows],
        tones=TREND_TONES,
        others=[one.name for one in local.call(list_agents, NO_PARAMS) if one.name not in set(agents)],
    )


def agent(request: Request) -> Response:
    local = backend(request)
    engine, known = local.engine, local.call(ops.list_evolved, NO_PARAMS)
    name = request.query_params.get("agent", "")
    if name not in known:
        raise NotFound("evaluated agent", name, known, "see the list of agents")
    log = engine.evolution.fitness(name, EVALUATIONS)
    generations = engine.evolution.history(name, GENERATIONS)
    warnings = engine.journal.latest(EVALUATIONS, name, WARNING)
    bands = grace_periods(log, generations, warnings)
    standing = engine.evolution.status(name)
    return page.render(
        request,
        "evolving.html",
        title=name,
        standing=standing,
        levels=generation.levels(standing.scores) if standing.scores else {},
        tones=TREND_TONES,
        trigger_tones=generation.TONES,
        rows=paged(request, tuple(reversed(generations)), ON_A_PAGE),
        numbers=[one.number for one in reversed(generations)],
        series=_series(log, generations, bands),
        log=log[-100:],
        bands=bands,
        axes=AXES,
        params=params_data(local.call(ops.show_params, AgentQuery(agent=name))),
        notice=said(request, DONE),
    )


def answer(local: Local, fields: Fields) -> str:
    name, accepted = fields.get("agent", ""), fields.get("accept", "") == "yes"
    local.call(ops.answer, ops.ProposalAnswer(accept=accepted), agent=name)
    return address("/evolution/agent", agent=name, done="accepted" if accepted else "declined", what=name)


def resume(local: Local, fields: Fields) -> str:
    name = fields.get("agent", "")
    local.call(ops.resume, NO_PARAMS, agent=name)
    return address("/evolution/agent", agent=name, done="resumed", what=name)


# --- the chart -------------------------------------------------------------------------------


def _series(
    log: Sequence[Fitness], generations: Sequence[Generation], bands: Sequence[Band]
) -> dict[str, object]:
    return {
        "evaluations": [entry.evaluation for entry in log],
        "times": [datetime.fromisoformat(entry.at).timestamp() for entry in log],
        "fitness": [round(entry.fitness, 4) for entry in log],
        "axes": [[round(generation.levels(entry.scores)[axis], 4) for entry in log] for axis in AXES],
        "marks": [asdict(mark) for mark in marks(log, generations)],
        "bands": [asdict(band) for band in bands],
    }


def marks(log: Sequence[Fitness], generations: Sequence[Generation]) -> list[Mark]:
    """Each generation at the evaluation that made it, or after which a person did."""
    times = [entry.at for entry in log]
    found = []
    for one in generations:
        place = bisect_right(times, one.at) - 1
        if place >= 0:
            back = f" ↩ {one.restored}" if one.restored else ""
            says = f"generation {one.number}: {generation.told(one)}"
            tone = "bad" if one.restored else generation.TONES.get(one.trigger, "")
            found.append(Mark(place, f"{one.number}{back}", tone, says))
    return found


def grace_periods(
    log: Sequence[Fitness], generations: Sequence[Generation], warnings: Sequence[JournalEntry]
) -> list[Band]:
    """The stretches in which a regression had time to recover, from the warnings that told of them."""
    times = [entry.at for entry in log]
    groups: list[list[JournalEntry]] = []
    for entry in (one for one in warnings if one.data["grace_remaining"]):
        if groups and entry.data["grace_remaining"] < groups[-1][-1].data["grace_remaining"]:
            groups[-1].append(entry)
        else:
            groups.append([entry])
    restoring = {bisect_right(times, one.at) - 1 for one in generations if one.restored}
    bands = []
    for group in groups:
        start, last = (bisect_right(times, entry.at) - 1 for entry in (group[0], group[-1]))
        if start < 0:
            continue
        end = min(last + 1, len(log) - 1)
        outcome = "rolled back" if end in restoring else "running" if end == last else "recovered"
        bands.append(Band(start, end, str(group[0].data["affected_area"]), outcome))
    return bands


ROUTES = (
    Route("/evolution", listed),
    Route("/evolution/agent", agent),
    *generation.ROUTES,
    form("/evolution/resume", resume, ops.resume),
    form("/evolution/proposal", answer, ops.answer),
)
